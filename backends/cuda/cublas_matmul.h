// A product by cuBLAS, ready to run.
#pragma once

#include <memory>

#include "ops/matmul.h"

namespace assay::cuda {

// Throws Unsupported for epilogues and fp8, which cuBLAS lacks.
std::unique_ptr<ops::PreparedMatmul> prepare_cublas(const work::Matmul& problem);

}  // namespace assay::cuda
