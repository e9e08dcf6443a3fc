// `assay gemm`, `assay memory`, ...: a probe as a subcommand, a suite of one.
#pragma once

#include "cli/command.h"
#include "cli/measuring_options.h"
#include "probes/probe.h"

namespace assay::cli {

class ProbeCommand final : public Command {
  public:
    explicit ProbeCommand(const probes::Probe& probe) : probe_(probe) {}
    CLI::App* declare(CLI::App& app) override;
    int run() override;

  private:
    const probes::Probe& probe_;
    MeasuringOptions measuring_;
    std::vector<std::pair<std::string, std::string>> given_;  // option, value: in order
};

}  // namespace assay::cli
