// Options that every measuring subcommand has (design: one contract), and what becomes of a run.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "suite/conductor.h"
#include "suite/plan.h"

namespace assay::cli {

// The time that `option` was given, in seconds. Throws UsageError unless it is above 0.
double parse_duration(const std::string& text, const std::string& option);

class MeasuringOptions {
  public:
    void declare(CLI::App& command);
    // Runs the plan to the contract: progress to stderr, each result stored as it is made, the
    // document to --output. Returns the exit status.
    int measure(const suite::Plan& plan, bool with_verdict) const;

  private:
    suite::Settings settings(const suite::Plan& plan) const;

    std::string format_ = "table";
    std::string output_ = "-";
    std::string store_;
    std::string device_ = "best";
    std::string protocol_;
    std::string seed_ = "0";
    std::string limit_ = "10";
    std::string launches_;
    bool in_process_ = false;
    bool quiet_ = false;
};

}  // namespace assay::cli
