#include "model/optimizer_layout.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace assay::model {

namespace {

// Two moments of a byte each, with a scale of 4 bytes for 256 of them.
constexpr double kEightBitMoments = 2 * (1 + 4.0 / 256);

const std::array<OptimizerLayout, 8>& layouts() {
    static const std::array<OptimizerLayout, 8> kLayouts{{
        {"megatron", "bf16 weights and gradients, fp32 master and moments", "Megatron-LM", 2, 0, 2,
         4, 8},
        {"megatron-fp32-grads", "bf16 weights, fp32 gradients, master and moments",
         "Megatron-LM with gradients accumulated in fp32", 2, 0, 4, 4, 8},
        {"torch-autocast", "fp32 weights with bf16 copies, fp32 gradients and moments",
         "PyTorch autocast with AdamW", 4, 2, 4, 0, 8},
        {"bf16-moments", "fp32 weights and gradients, bf16 moments",
         "torchtitan docs/bf16_optimizer_states.md", 4, 0, 4, 0, 4},
        {"bf16-moments-master", "bf16 weights, gradients and moments, fp32 master",
         "as DeepSeek-V3 keeps its moments", 2, 0, 2, 4, 4},
        {"bf16", "bf16 weights by stochastic rounding, bf16 gradients and moments", "llmq", 2, 0, 2,
         0, 4},
        {"8bit-master", "bf16 weights and gradients, fp32 master, 8-bit moments",
         "bitsandbytes, torchao", 2, 0, 2, 4, kEightBitMoments},
        {"8bit", "bf16 weights by stochastic rounding, bf16 gradients, 8-bit moments",
         "bitsandbytes, torchao", 2, 0, 2, 0, kEightBitMoments},
    }};
    return kLayouts;
}

}  // namespace

std::span<const OptimizerLayout> optimizer_layouts() {
    return layouts();
}

const OptimizerLayout& find_optimizer_layout(std::string_view name) {
    const auto found = std::ranges::find(layouts(), name, &OptimizerLayout::name);
    if (found != layouts().end()) return *found;
    std::vector<std::string> names;
    for (const auto& layout : layouts()) names.push_back(layout.name);
    throw_unknown("optimizer layout", name, names);
}

}  // namespace assay::model
