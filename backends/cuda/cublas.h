// cuBLAS, the older interface to the same products, opened on first use.
#pragma once

#include <map>
#include <string>

#include <cublas_v2.h>

#include "device/shared_library.h"

namespace assay::cuda {

class Cublas {
  public:
    // Opened once a process; ASSAY_LIB_CUBLAS names another file. Throws Unsupported.
    static const Cublas& instance();

    const std::string& file() const { return library_.file(); }
    const std::string& version() const { return version_; }
    cublasHandle_t handle() const;  // as CublasLt::handle()

    // Throws Unsupported for what cuBLAS doesn't do, DeviceLost or Error for the rest.
    void check(cublasStatus_t status, const std::string& what) const;

    decltype(&cublasSetStream_v2) set_stream = nullptr;
    decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
    // Overloaded in C++: the one with a compute type.
    cublasStatus_t (*gemm_strided_batched_ex)(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                              int m, int n, int k, const void* alpha, const void* a,
                                              cudaDataType type_a, int lda, long long stride_a,
                                              const void* b, cudaDataType type_b, int ldb,
                                              long long stride_b, const void* beta, void* c,
                                              cudaDataType type_c, int ldc, long long stride_c,
                                              int batch, cublasComputeType_t,
                                              cublasGemmAlgo_t) = nullptr;

  private:
    Cublas();

    device::SharedLibrary library_;
    decltype(&cublasCreate_v2) create_ = nullptr;
    decltype(&cublasSetMathMode) set_math_mode_ = nullptr;
    decltype(&cublasGetProperty) get_property_ = nullptr;
    decltype(&cublasGetStatusName) status_name_ = nullptr;
    std::string version_;
    mutable std::map<int, cublasHandle_t> handles_;  // by device
};

}  // namespace assay::cuda
