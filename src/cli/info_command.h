// `assay info`: devices, caches, topology, libraries and versions, and every setting that matters.
#pragma once

#include "cli/command.h"

namespace assay::cli {

class InfoCommand final : public Command {
  public:
    CLI::App* declare(CLI::App& app) override;
    int run() override;

  private:
    std::string format_ = "table";
    std::string output_ = "-";
    bool in_process_ = false;
};

}  // namespace assay::cli
