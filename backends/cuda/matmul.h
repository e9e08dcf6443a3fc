// Products by cuBLASLt, and by cuBLAS as a second entry point.
#pragma once

#include <string>

#include "ops/matmul.h"

namespace assay::cuda {

class CudaMatmul : public ops::Matmul {
  public:
    // `capability` is 10 x major + minor.
    CudaMatmul(std::string device, int capability)
        : device_(std::move(device)), capability_(capability) {}

    std::unique_ptr<ops::PreparedMatmul> prepare(const work::Matmul& problem,
                                                 const ops::MatmulChoice& choice) override;
    std::vector<std::string> entries() const override { return {"cublasLt", "cublas"}; }
    std::vector<std::string> algorithms(const work::Matmul& problem,
                                        std::size_t enumerated) override;

  private:
    std::string device_;
    int capability_;
};

}  // namespace assay::cuda
