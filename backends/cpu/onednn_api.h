// oneDNN's C API, for onednn*.cpp alone. What differs between its major versions is VersionedApi,
// of which CMake compiles the one that fits the headers: onednn_v2.cpp or onednn_v3.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include <dnnl.h>

#include "device/shared_library.h"

namespace assay::cpu::onednn {

// The functions that every version has, each under its own name without the prefix.
// clang-format off
#define ASSAY_DNNL_FUNCTIONS(apply)                                                              \
    apply(version) apply(get_effective_cpu_isa) apply(engine_create) apply(engine_destroy)       \
    apply(stream_create) apply(stream_destroy) apply(stream_wait) apply(memory_desc_get_size)    \
    apply(memory_create) apply(memory_set_data_handle) apply(memory_destroy)                     \
    apply(post_ops_create) apply(post_ops_destroy) apply(primitive_attr_create)                  \
    apply(primitive_attr_set_post_ops) apply(primitive_attr_set_scratchpad_mode)                 \
    apply(primitive_attr_destroy) apply(primitive_desc_query) apply(primitive_desc_query_md)     \
    apply(primitive_desc_destroy) apply(primitive_create) apply(primitive_execute)               \
    apply(primitive_destroy)
// clang-format on

struct Api {
#define ASSAY_MEMBER(name) decltype(&dnnl_##name) name = nullptr;
    ASSAY_DNNL_FUNCTIONS(ASSAY_MEMBER)
#undef ASSAY_MEMBER

    explicit Api(const device::SharedLibrary& library) {
#define ASSAY_BIND(name) library.bind(name, "dnnl_" #name);
        ASSAY_DNNL_FUNCTIONS(ASSAY_BIND)
#undef ASSAY_BIND
    }
};
#undef ASSAY_DNNL_FUNCTIONS

// Throws Unsupported where oneDNN can't do `what` or lacks memory for it, Error for the rest.
void check(dnnl_status_t status, const std::string& what);

template <class Object>
using Handle = std::unique_ptr<std::remove_pointer_t<Object>, dnnl_status_t (*)(Object)>;

// An object made by `create`, which stores it through its first argument.
template <class Object, class Create>
Handle<Object> make(const std::string& what, dnnl_status_t (*destroy)(Object),
                    const Create& create) {
    Object object = nullptr;
    check(create(&object), what);
    return {object, destroy};
}

// What oneDNN's functions take as a memory's description: a struct in 2.x, opaque in 3.x.
using MemoryView = decltype(dnnl_primitive_desc_query_md(nullptr, dnnl_query_undef, 0));
using MemoryDescription = std::shared_ptr<std::remove_pointer_t<MemoryView>>;

struct MatmulDescription {
    MemoryDescription a, b, bias, c;  // bias: null where there is none
};

// `what` names the work in the errors of check().
class VersionedApi {
  public:
    virtual ~VersionedApi() = default;
    virtual MemoryDescription describe(int dimensions, const dnnl_dims_t dims,
                                       const dnnl_dims_t strides, dnnl_data_type_t type,
                                       const std::string& what) const = 0;
    virtual void append_gelu(dnnl_post_ops_t post_ops, const std::string& what) const = 0;
    // The first implementation whose name is `preferred`, else oneDNN's own choice.
    virtual Handle<dnnl_primitive_desc_t> choose(const MatmulDescription& description,
                                                 dnnl_primitive_attr_t attributes,
                                                 dnnl_engine_t engine, std::string_view preferred,
                                                 const std::string& what) const = 0;
};

// oneDNN's name for an implementation.
std::string_view implementation_name(const Api& api, const Handle<dnnl_primitive_desc_t>& primitive,
                                     const std::string& what);

// `library` must be of the headers' major version; `api` must outlive the result.
std::unique_ptr<VersionedApi> versioned_api(const device::SharedLibrary& library, const Api& api);

}  // namespace assay::cpu::onednn
