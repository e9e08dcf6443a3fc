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

// A member, and its function without the prefix.
// clang-format off
#define ASSAY_CUBLASLT_FUNCTIONS(apply)                                                            \
    apply(create, Create) apply(destroy, Destroy) apply(get_version, GetVersion) \
    apply(get_status_name, GetStatusName) apply(matmul_desc_create, MatmulDescCreate) \
    apply(matmul_desc_destroy, MatmulDescDestroy) \
    apply(matmul_desc_set_attribute, MatmulDescSetAttribute) \
    apply(matrix_layout_create, MatrixLayoutCreate) \
    apply(matrix_layout_destroy, MatrixLayoutDestroy) \
    apply(matrix_layout_set_attribute, MatrixLayoutSetAttribute) \
    apply(matmul_preference_create, MatmulPreferenceCreate) \
    apply(matmul_preference_destroy, MatmulPreferenceDestroy) \
    apply(matmul_preference_set_attribute, MatmulPreferenceSetAttribute) \
    apply(matmul_algo_get_heuristic, MatmulAlgoGetHeuristic) \
    apply(matmul_algo_get_ids, MatmulAlgoGetIds) apply(matmul_algo_init, MatmulAlgoInit) \
    apply(matmul_algo_check, MatmulAlgoCheck) \
    apply(matmul_algo_cap_get_attribute, MatmulAlgoCapGetAttribute) \
    apply(matmul_algo_config_set_attribute, MatmulAlgoConfigSetAttribute) \
    apply(matmul_algo_config_get_attribute, MatmulAlgoConfigGetAttribute) \
    apply(matmul, Matmul)
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

#define ASSAY_MEMBER(member, function) decltype(&cublasLt##function) member = nullptr;
    ASSAY_CUBLASLT_FUNCTIONS(ASSAY_MEMBER)
#undef ASSAY_MEMBER

  private:
    CublasLt();

    device::SharedLibrary library_;
    std::string version_;
    mutable std::map<int, cublasLtHandle_t> handles_;  // by device
};

}  // namespace assay::cuda
