#include "cuda/cudnn/library.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cuda/check.h"
#include "cuda/cublaslt.h"
#include "cuda/cudnn/facts.h"

namespace assay::cuda {

namespace {

// The kinds of cuDNN's statuses, by thousands.
constexpr int kNotSupported = 3, kExecutionFailed = 5;

}  // namespace

Cudnn::Cudnn() : library_("ASSAY_LIB_CUDNN", toolkit_names(ASSAY_CUDNN_SONAME)) {
#define ASSAY_BIND(member, function) library_.bind(member, "cudnn" #function);
    ASSAY_CUDNN_FUNCTIONS(ASSAY_BIND)
#undef ASSAY_BIND
    number_ = get_version();
    version_ = fmt::format("{}.{}.{}", number_ / 10000, number_ / 100 % 100, number_ % 100);
}

const Cudnn& Cudnn::instance() {
    static const Cudnn library;
    return library;
}

cudnnHandle_t Cudnn::handle() const {
    thread_local std::map<int, cudnnHandle_t> handles;  // by device
    auto& handle = handles[device_in_use()];
    if (handle == nullptr) check(create(&handle), "cudnnCreate");
    return handle;
}

void Cudnn::check(cudnnStatus_t status, const std::string& call) const {
    if (status == CUDNN_STATUS_SUCCESS) return;
    std::array<char, 1024> last{};
    get_last_error_string(last.data(), last.size() - 1);
    std::ranges::replace(last, '\n', ' ');
    auto text = fmt::format("cuDNN {}: {} is {}", version_, call, get_error_string(status));
    if (const auto said = trim(last.data()); !said.empty()) text += fmt::format(" ({})", said);
    const int kind = static_cast<int>(status) / 1000;
    if (kind == kNotSupported || status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ||
        status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED) {
        throw Unsupported(text, "choose another type, layout, mask or shape");
    }
    // A failed execution may have taken the device along.
    if (kind == kExecutionFailed) ASSAY_CUDA(cudaDeviceSynchronize());
    throw Error(text, "another version of the library can be named in ASSAY_LIB_CUDNN");
}

record::SoftwareFacts cudnn_facts() {
    try {
        const auto& library = Cudnn::instance();
        return {"cuDNN", library.version(), library.file(), ""};
    } catch (const Unsupported& missing) {
        return {"cuDNN", std::string("not loaded: ") + missing.what(), "", ""};
    }
}

}  // namespace assay::cuda
