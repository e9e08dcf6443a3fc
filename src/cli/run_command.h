// `assay run`: climbs the ladder by a suite and ends with a verdict.
#pragma once

#include "cli/command.h"
#include "cli/measuring_options.h"

namespace assay::cli {

class RunCommand final : public Command {
  public:
    CLI::App* declare(CLI::App& app) override;
    int run() override;

  private:
    std::string suite_ = "quick";
    std::string budget_;
    MeasuringOptions measuring_;
};

}  // namespace assay::cli
