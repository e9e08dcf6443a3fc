// Runs kernels that are written in the words of cuda/attention/lane.h on the host: every thread of
// a block is a fiber, warps exchange what their lanes hold, shared memory begins as NaN. What no
// order of warps and no time at which a copy comes may change, it varies.
#pragma once

#include <cstdint>
#include <functional>

#include "cuda/attention/lane.h"

namespace assay::cuda {

struct Emulation {
    bool last_warp_first = false;  // between barriers, a warp runs as far as it can
    bool eager_copies = false;     // copies come at once, or when they are waited for
};

// Throws Error for lanes that part at a warp's word, threads that part at a barrier, and accesses
// of shared memory out of bounds or not aligned.
void emulate(std::int64_t blocks, int threads, unsigned shared_bytes, const Emulation& how,
             const std::function<void(const Thread&)>& kernel);

}  // namespace assay::cuda
