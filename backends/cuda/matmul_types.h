// How a product's types are called by NVIDIA's libraries, and which products they have.
#pragma once

#include <string>

#include <cublasLt.h>

#include "work/matmul.h"

namespace assay::cuda {

// "16384x8192x1280 bf16 nn", for errors.
std::string describe(const work::Matmul& problem);

cudaDataType_t data_type(work::Type type);
cublasComputeType_t compute_type(const work::Matmul& problem);
cudaDataType_t scale_type(const work::Matmul& problem);  // of alpha and beta

// Throws Unsupported naming the type, pair, dimension or layout that `device` (compute capability
// `capability`, 10 x major + minor) or the libraries lack, and what they have.
void require_supported(const work::Matmul& problem, const std::string& device, int capability);

// alpha = scale_a scale_b (1 for fp8, whose scales are the library's own), beta = 0, in the scale
// type.
class Factors {
  public:
    explicit Factors(const work::Matmul& problem);
    const void* alpha() const { return alpha_; }
    const void* beta() const { return beta_; }

  private:
    alignas(8) unsigned char alpha_[8] = {};
    alignas(8) unsigned char beta_[8] = {};
};

}  // namespace assay::cuda
