// The status that cuBLAS and cuBLASLt share.
#pragma once

#include <string>

#include <cublas_api.h>

namespace assay::cuda {

// Throws for a call that failed. `text` says library, call and status; `variable` names another
// file of the library. Unsupported for what the library doesn't do, DeviceLost where the device
// went along, Error for the rest.
void check_status(cublasStatus_t status, const std::string& text, const char* variable);

}  // namespace assay::cuda
