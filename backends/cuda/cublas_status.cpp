#include "cuda/cublas_status.h"

#include "base/error.h"
#include "cuda/check.h"

namespace assay::cuda {

void check_status(cublasStatus_t status, const std::string& text, const char* variable) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH ||
        status == CUBLAS_STATUS_ALLOC_FAILED) {
        throw Unsupported(text, "choose another type, layout or shape");
    }
    // A failed execution may have taken the device along.
    ASSAY_CUDA(cudaDeviceSynchronize());
    throw Error(text, std::string("another version of the library can be named in ") + variable);
}

}  // namespace assay::cuda
