#include "cuda/cudnn/descriptor.h"

#include <utility>

#include <fmt/format.h>

namespace assay::cuda {

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type, std::string name)
    : name_(std::move(name)) {
    const auto& library = Cudnn::instance();
    cudnnBackendDescriptor_t made = nullptr;
    library.check(library.create_descriptor(type, &made),
                  "cudnnBackendCreateDescriptor of " + name_);
    descriptor_.reset(made);
}

void CudnnDescriptor::Destroy::operator()(void* descriptor) const {
    Cudnn::instance().destroy_descriptor(descriptor);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute, std::int64_t value) {
    set(attribute, CUDNN_TYPE_INT64, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute, bool value) {
    set(attribute, CUDNN_TYPE_BOOLEAN, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute, cudnnDataType_t value) {
    set(attribute, CUDNN_TYPE_DATA_TYPE, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute, cudnnPointwiseMode_t value) {
    set(attribute, CUDNN_TYPE_POINTWISE_MODE, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute, cudnnReduceTensorOp_t value) {
    set(attribute, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute, cudnnBackendHeurMode_t value) {
    set(attribute, CUDNN_TYPE_HEUR_MODE, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute, cudnnHandle_t value) {
    set(attribute, CUDNN_TYPE_HANDLE, 1, &value);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute, const CudnnDescriptor& value) {
    void* raw = value.handle();
    set(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &raw);
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute,
                          std::span<const std::int64_t> values) {
    set(attribute, CUDNN_TYPE_INT64, values.size(), values.data());
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute,
                          std::span<const CudnnDescriptor> values) {
    std::vector<void*> raw;
    for (const auto& value : values) raw.push_back(value.handle());
    set(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, raw.size(), raw.data());
}
void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute, const std::string& value) {
    set(attribute, CUDNN_TYPE_CHAR, value.size(), value.data());
}
void CudnnDescriptor::set_addresses(cudnnBackendAttributeName_t attribute,
                                    std::span<void* const> values) {
    set(attribute, CUDNN_TYPE_VOID_PTR, values.size(), values.data());
}

void CudnnDescriptor::finalize() {
    const auto& library = Cudnn::instance();
    library.check(library.finalize(handle()), "cudnnBackendFinalize of " + name_);
}

std::int64_t CudnnDescriptor::number(cudnnBackendAttributeName_t attribute) const {
    std::int64_t value = 0;
    get(attribute, CUDNN_TYPE_INT64, 1, &value);
    return value;
}

std::string CudnnDescriptor::text(cudnnBackendAttributeName_t attribute) const {
    const auto length = get(attribute, CUDNN_TYPE_CHAR, 0, nullptr);
    std::string text(static_cast<std::size_t>(length), '\0');
    get(attribute, CUDNN_TYPE_CHAR, text.size(), text.data());
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
}

void CudnnDescriptor::get(cudnnBackendAttributeName_t attribute, CudnnDescriptor& into) const {
    void* raw = into.handle();
    get(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &raw);
}

std::vector<CudnnDescriptor> CudnnDescriptor::list(cudnnBackendAttributeName_t attribute,
                                                   cudnnBackendDescriptorType_t type,
                                                   const std::string& name) const {
    const auto count = get(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
    std::vector<CudnnDescriptor> found;
    std::vector<void*> raw;
    for (std::int64_t i = 0; i < count; ++i) raw.push_back(found.emplace_back(type, name).handle());
    if (count == 0) return found;
    const auto filled = get(attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, raw.size(), raw.data());
    while (std::cmp_greater(found.size(), filled)) found.pop_back();
    return found;
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type,
                          std::size_t count, const void* values) {
    const auto& library = Cudnn::instance();
    library.check(
        library.set_attribute(handle(), attribute, type, static_cast<std::int64_t>(count), values),
        call("cudnnBackendSetAttribute", attribute));
}

std::int64_t CudnnDescriptor::get(cudnnBackendAttributeName_t attribute,
                                  cudnnBackendAttributeType_t type, std::size_t count,
                                  void* values) const {
    const auto& library = Cudnn::instance();
    std::int64_t got = 0;
    library.check(library.get_attribute(handle(), attribute, type, static_cast<std::int64_t>(count),
                                        &got, values),
                  call("cudnnBackendGetAttribute", attribute));
    return got;
}

std::string CudnnDescriptor::call(const char* function,
                                  cudnnBackendAttributeName_t attribute) const {
    return fmt::format("{} {} of {}", function, static_cast<int>(attribute), name_);
}

}  // namespace assay::cuda
