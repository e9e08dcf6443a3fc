// Memory kernels: the portable ones, and Hopper's bulk copy engine where it is faster.
#pragma once

#include "ops/memory.h"

namespace assay::cuda {

class CudaMemory : public ops::Memory {
  public:
    // `capability` is 10 x major + minor.
    CudaMemory(int compute_units, int capability)
        : compute_units_(compute_units), capability_(capability) {}

    std::vector<std::string> kernels(work::MemoryOp op) const override;
    std::uint64_t largest_slice() const override { return std::uint64_t{1} << 40; }
    std::uint64_t least_bytes() const override { return std::uint64_t{256} << 20; }
    std::unique_ptr<ops::PreparedMemory> prepare(const ops::MemoryRequest& request) override;

  private:
    int compute_units_;
    int capability_;
};

}  // namespace assay::cuda
