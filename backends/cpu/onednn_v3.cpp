#include "cpu/onednn_api.h"

namespace assay::cpu::onednn {
namespace {

class Version3 : public VersionedApi {
  public:
    Version3(const device::SharedLibrary& library, const Api& api) : api_(api) {
        library.bind(memory_desc_create_, "dnnl_memory_desc_create_with_strides");
        library.bind(memory_desc_destroy_, "dnnl_memory_desc_destroy");
        library.bind(post_ops_append_eltwise_, "dnnl_post_ops_append_eltwise");
        library.bind(matmul_create_, "dnnl_matmul_primitive_desc_create");
        library.bind(next_impl_, "dnnl_primitive_desc_next_impl");
    }

    MemoryDescription describe(int dimensions, const dnnl_dims_t dims, const dnnl_dims_t strides,
                               dnnl_data_type_t type, const std::string& what) const override {
        return make<dnnl_memory_desc_t>(what, memory_desc_destroy_, [&](auto* made) {
            return memory_desc_create_(made, dimensions, dims, type, strides);
        });
    }

    void append_gelu(dnnl_post_ops_t post_ops, const std::string& what) const override {
        check(post_ops_append_eltwise_(post_ops, dnnl_eltwise_gelu_tanh, 0, 0), what);
    }

    Handle<dnnl_primitive_desc_t> choose(const MatmulDescription& matmul,
                                         dnnl_primitive_attr_t attributes, dnnl_engine_t engine,
                                         std::string_view preferred,
                                         const std::string& what) const override {
        const auto create = [&] {
            return make<dnnl_primitive_desc_t>(what, api_.primitive_desc_destroy, [&](auto* made) {
                return matmul_create_(made, engine, matmul.a.get(), matmul.b.get(),
                                      matmul.bias.get(), matmul.c.get(), attributes);
            });
        };
        if (preferred.empty()) return create();
        auto candidate = create();
        do {
            if (implementation_name(api_, candidate, what) == preferred) return candidate;
        } while (next_impl_(candidate.get()) == dnnl_success);
        return create();
    }

  private:
    const Api& api_;
    decltype(&dnnl_memory_desc_create_with_strides) memory_desc_create_ = nullptr;
    decltype(&dnnl_memory_desc_destroy) memory_desc_destroy_ = nullptr;
    decltype(&dnnl_post_ops_append_eltwise) post_ops_append_eltwise_ = nullptr;
    decltype(&dnnl_matmul_primitive_desc_create) matmul_create_ = nullptr;
    decltype(&dnnl_primitive_desc_next_impl) next_impl_ = nullptr;
};

}  // namespace

std::unique_ptr<VersionedApi> versioned_api(const device::SharedLibrary& library, const Api& api) {
    return std::make_unique<Version3>(library, api);
}

}  // namespace assay::cpu::onednn
