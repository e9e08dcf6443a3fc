// Does a memory kernel do what it says? Checked before it is timed.
#pragma once

#include "device/device.h"
#include "ops/memory.h"
#include "record/result.h"

namespace assay::probes {

// Streams of the random filler, one an array.
inline constexpr std::uint32_t kArrayA = 0, kArrayB = 1;

// Fills the arrays, runs the kernel once and compares elements spread over c with what the fills
// say. read has no c: a is zeroed but for known integers at known places, whose sum must come out
// exactly; afterwards a is filled as for the others.
record::Check check_memory(device::Device& device, ops::PreparedMemory& kernel,
                           const ops::MemoryRequest& request, const ops::MemoryOperands& arrays,
                           std::uint64_t seed);

// Writes at the elements of c that are compared what no kernel writes; a read has no c.
void poison_memory(device::Device& device, const ops::MemoryRequest& request,
                   const ops::MemoryOperands& arrays);

// Compares c, as calls since left it, with what check_memory()'s fills say. Not for a read.
record::Check compare_memory(device::Device& device, const ops::MemoryRequest& request,
                             const ops::MemoryOperands& arrays, std::uint64_t seed);

// Runs the kernel once more on arrays that check_memory() has filled: after poison_memory(), and a
// read on zeros and integers, which are left there.
record::Check check_memory_again(device::Device& device, ops::PreparedMemory& kernel,
                                 const ops::MemoryRequest& request,
                                 const ops::MemoryOperands& arrays, std::uint64_t seed);

}  // namespace assay::probes
