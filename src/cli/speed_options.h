// The options of `assay plan` that its speed half answers to.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/speed.h"

namespace assay::cli {

class SpeedOptions {
  public:
    void declare(CLI::App& command);

    // Tokens of a request, input and output; 0 where neither is given.
    std::int64_t context() const;
    // `use` and `targets` as planned. Throws UsageError for options of training without it, and the
    // other way round.
    plan::SpeedQuestion question(const model::Model& model, const model::Use& use,
                                 const std::vector<plan::Target>& targets) const;
    // The rates measured on each target's device, from the store. A store that isn't there gives
    // none; one that can't be read is said on standard error, and gives none.
    std::vector<std::vector<plan::Measured>> measured(
        const std::vector<plan::Target>& targets,
        const std::vector<catalog::Accelerator>& accelerators) const;

  private:
    plan::Load load(const model::Use& use) const;
    plan::Network network() const;

    std::string input_, output_tokens_, speculate_, slo_, price_, rail_, layers_, store_;
    bool in_network_ = false, nvls_ = false;
    std::string global_batch_, flop_, failures_, restart_, checkpoint_;
};

}  // namespace assay::cli
