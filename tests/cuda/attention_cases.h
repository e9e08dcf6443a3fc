// Small problems for the GPU's kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "work/attention.h"

namespace assay::cuda {

struct AttentionCase {
    std::string name;
    work::Attention problem;
    work::AttentionLayout layout;
    std::int64_t shift = 0;  // of AttentionExample
};

// Of some tiles each: every mask, modifier, ratio of heads, layout, size of heads and kind of
// strides, but not every two together, so few that emulated warps can do them.
std::vector<AttentionCase> attention_cases(work::Type type);

// One or two of few tiles for each kernel of a 16-bit type that a device with much shared memory
// chooses, so small that a race detector can do them: it takes a hundred times as long. Those of
// many heads share tiles of keys among blocks, on any device with four or more multiprocessors.
std::vector<AttentionCase> kernel_cases(work::Type type);

// attention_cases(), and small ones that try every pair of the things in support/attention_pairs.h.
std::vector<AttentionCase> device_cases(work::Type type);

}  // namespace assay::cuda
