#include "cuda/cublaslt.h"

#include <fmt/format.h>

#include "cuda/check.h"
#include "cuda/cublas_status.h"

namespace assay::cuda {

std::vector<std::string> toolkit_names(const std::string& soname) {
    // The toolkit's own folder isn't always on the loader's path.
    return {soname, "/usr/local/cuda/lib64/" + soname};
}

CublasLt::CublasLt() : library_("ASSAY_LIB_CUBLASLT", toolkit_names(ASSAY_CUBLASLT_SONAME)) {
#define ASSAY_BIND(member, function) library_.bind(member, "cublasLt" #function);
    ASSAY_CUBLASLT_FUNCTIONS(ASSAY_BIND)
#undef ASSAY_BIND
    const auto number = get_version();  // 130100
    version_ = fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

const CublasLt& CublasLt::instance() {
    static const CublasLt library;
    return library;
}

cublasLtHandle_t CublasLt::handle() const {
    auto& handle = handles_[device_in_use()];
    if (handle == nullptr) check(create(&handle), "cublasLtCreate");
    return handle;
}

void CublasLt::check(cublasStatus_t status, const std::string& what) const {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    check_status(status,
                 fmt::format("cuBLASLt {}: {} is {}", version_, what, get_status_name(status)),
                 "ASSAY_LIB_CUBLASLT");
}

}  // namespace assay::cuda
