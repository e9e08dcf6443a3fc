// How a training run keeps parameters, gradients and the optimizer's states.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay::model {

// Bytes per parameter. Eight-bit moments hold a scale of four bytes for each block of 256
// (bitsandbytes, torchao).
struct OptimizerLayout {
    std::string name;
    std::string what;    // "bf16 weights and gradients, fp32 master and moments"
    std::string source;  // who trains so
    double weights = 0;
    double copies = 0;  // of the weights in another type, kept beside them
    double gradients = 0;
    double master = 0;   // weights in higher precision
    double moments = 0;  // both

    double total() const { return weights + copies + gradients + master + moments; }
    double optimizer() const { return master + moments; }
};

std::span<const OptimizerLayout> optimizer_layouts();
// Throws UsageError for an unknown name.
const OptimizerLayout& find_optimizer_layout(std::string_view name);

}  // namespace assay::model
