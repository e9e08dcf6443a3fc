// Memory kernels by Hopper's bulk copy engine: whole kilobytes move between device memory and a
// multiprocessor's shared memory without passing through registers.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "ops/memory.h"

namespace assay::cuda::sm90 {

// copy and write, on devices of compute capability 9.0.
bool has_bulk(work::MemoryOp op);

// Queues one call of one pass. Arrays are aligned to 16 bytes; elements after the last
// 16 bytes are moved by ordinary accesses.
void launch_bulk(const ops::MemoryRequest& request, const ops::MemoryOperands& operands,
                 cudaStream_t stream);

}  // namespace assay::cuda::sm90
