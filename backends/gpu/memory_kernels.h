// The memory kernels of work/memory_op.h by 16-byte accesses, for any GPU.
#pragma once

#include <cstdint>

#include "gpu/runtime.h"
#include "ops/memory.h"

namespace assay::gpu {

// Partial sums that one call leaves; 0 for all but `read`.
std::uint64_t memory_sums(const ops::MemoryRequest& request, int compute_units);

// Queues one call of `request`. Arrays are aligned to 16 bytes. `sums` has memory_sums() elements:
// their sum is that of the array, over all passes (read only).
void launch_memory(const ops::MemoryRequest& request, const ops::MemoryOperands& operands,
                   double* sums, int compute_units, Stream stream);

}  // namespace assay::gpu
