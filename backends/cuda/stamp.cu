#include "cuda/stamp.h"

namespace assay::cuda {
namespace {

__global__ void stamp_kernel(Stamp* stamps, unsigned units) {
    unsigned unit = 0;
    std::uint64_t cycles = 0, ns = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    // Numbers of multiprocessors may have holes, in slices of a device say.
    if (unit < units) stamps[unit] = {cycles, ns};
}

}  // namespace

void launch_stamp(Stamp* stamps, int compute_units, cudaStream_t stream) {
    stamp_kernel<<<static_cast<unsigned>(compute_units), 1, 0, stream>>>(
        stamps, static_cast<unsigned>(compute_units));
}

}  // namespace assay::cuda
