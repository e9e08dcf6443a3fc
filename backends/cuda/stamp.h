// Kernels that read every multiprocessor's cycle counter beside the time.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

namespace assay::cuda {

struct Stamp {
    std::uint64_t cycles = 0;
    std::uint64_t ns = 0;
};

// Queues the writing of one stamp a multiprocessor to stamps[multiprocessor]; one that no block
// lands on keeps its old value.
void launch_stamp(Stamp* stamps, int compute_units, cudaStream_t stream);

}  // namespace assay::cuda
