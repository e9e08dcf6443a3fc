// cuBLASLt, opened on first use through a table of functions: where it is missing, only products
// are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <cublasLt.h>

#include "device/shared_library.h"

namespace assay::cuda {

// The names under which a vendor's library of CUDA's toolkit may be found.
std::vector<std::string> toolkit_names(const std::string& soname);

// clang-format off
#define ASSAY_CUBLASLT_FUNCTIONS(apply)                                                           \
    apply(Create) apply(Destroy) apply(GetVersion) apply(GetStatusName)                           \
    apply(MatmulDescCreate) apply(MatmulDescDestroy) apply(MatmulDescSetAttribute)                \
    apply(MatrixLayoutCreate) apply(MatrixLayoutDestroy) apply(MatrixLayoutSetAttribute)          \
    apply(MatmulPreferenceCreate) apply(MatmulPreferenceDestroy)                                  \
    apply(MatmulPreferenceSetAttribute) apply(MatmulAlgoGetHeuristic) apply(MatmulAlgoGetIds)     \
    apply(MatmulAlgoInit) apply(MatmulAlgoCheck) apply(MatmulAlgoCapGetAttribute)                 \
    apply(MatmulAlgoConfigSetAttribute) apply(MatmulAlgoConfigGetAttribute) apply(Matmul)
// clang-format on

class CublasLt {
  public:
    // Opened once a process; ASSAY_LIB_CUBLASLT names another file. Throws Unsupported with the
    // file and the loader's reason, each time it is asked.
    static const CublasLt& instance();

    const std::string& file() const { return library_.file(); }
    const std::string& version() const { return version_; }  // "13.1.0"
    // Of the device in use, made on first use and kept: freeing it needs a driver that may be gone.
    cublasLtHandle_t handle() const;

    // Throws Unsupported for what cuBLASLt doesn't do, DeviceLost or Error for the rest.
    void check(cublasStatus_t status, const std::string& what) const;

#define ASSAY_MEMBER(name) decltype(&cublasLt##name) name = nullptr;
    ASSAY_CUBLASLT_FUNCTIONS(ASSAY_MEMBER)
#undef ASSAY_MEMBER

  private:
    CublasLt();

    device::SharedLibrary library_;
    std::string version_;
    mutable std::map<int, cublasLtHandle_t> handles_;  // by device
};

}  // namespace assay::cuda
