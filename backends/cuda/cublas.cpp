#include "cuda/cublas.h"

#include <fmt/format.h>

#include "cuda/check.h"
#include "cuda/cublas_status.h"
#include "cuda/cublaslt.h"

namespace assay::cuda {

Cublas::Cublas() : library_("ASSAY_LIB_CUBLAS", toolkit_names(ASSAY_CUBLAS_SONAME)) {
    library_.bind(create_, "cublasCreate_v2");
    library_.bind(get_property_, "cublasGetProperty");
    library_.bind(status_name_, "cublasGetStatusName");
    library_.bind(set_math_mode_, "cublasSetMathMode");
    library_.bind(set_stream, "cublasSetStream_v2");
    library_.bind(set_workspace, "cublasSetWorkspace_v2");
    library_.bind(gemm_strided_batched_ex, "cublasGemmStridedBatchedEx");
    int major = 0, minor = 0, patch = 0;
    get_property_(MAJOR_VERSION, &major);
    get_property_(MINOR_VERSION, &minor);
    get_property_(PATCH_LEVEL, &patch);
    version_ = fmt::format("{}.{}.{}", major, minor, patch);
}

const Cublas& Cublas::instance() {
    static const Cublas library;
    return library;
}

cublasHandle_t Cublas::handle() const {
    auto& handle = handles_[device_in_use()];
    if (handle == nullptr) {
        check(create_(&handle), "cublasCreate");
        // As LtProblem::heuristic() asks: partial sums stay in the accumulate type.
        check(set_math_mode_(handle, static_cast<cublasMath_t>(
                                         CUBLAS_DEFAULT_MATH |
                                         CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
              "cublasSetMathMode");
    }
    return handle;
}

void Cublas::check(cublasStatus_t status, const std::string& what) const {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    check_status(status, fmt::format("cuBLAS {}: {} is {}", version_, what, status_name_(status)),
                 "ASSAY_LIB_CUBLAS");
}

}  // namespace assay::cuda
