#include "cpu/onednn_api.h"

namespace assay::cpu::onednn {
namespace {

class Version2 : public VersionedApi {
  public:
    Version2(const device::SharedLibrary& library, const Api& api) : api_(api) {
        library.bind(memory_desc_init_by_strides_, "dnnl_memory_desc_init_by_strides");
        library.bind(post_ops_append_eltwise_, "dnnl_post_ops_append_eltwise");
        library.bind(matmul_desc_init_, "dnnl_matmul_desc_init");
        library.bind(iterator_create_, "dnnl_primitive_desc_iterator_create");
        library.bind(iterator_next_, "dnnl_primitive_desc_iterator_next");
        library.bind(iterator_fetch_, "dnnl_primitive_desc_iterator_fetch");
        library.bind(iterator_destroy_, "dnnl_primitive_desc_iterator_destroy");
    }

    MemoryDescription describe(int dimensions, const dnnl_dims_t dims, const dnnl_dims_t strides,
                               dnnl_data_type_t type, const std::string& what) const override {
        const auto description = std::make_shared<dnnl_memory_desc_t>();
        check(memory_desc_init_by_strides_(description.get(), dimensions, dims, type, strides),
              what);
        return description;
    }

    void append_gelu(dnnl_post_ops_t post_ops, const std::string& what) const override {
        check(post_ops_append_eltwise_(post_ops, 1.0F, dnnl_eltwise_gelu_tanh, 0, 0), what);
    }

    Handle<dnnl_primitive_desc_t> choose(const MatmulDescription& matmul,
                                         dnnl_primitive_attr_t attributes, dnnl_engine_t engine,
                                         std::string_view preferred,
                                         const std::string& what) const override {
        dnnl_matmul_desc_t description{};
        check(matmul_desc_init_(&description, matmul.a.get(), matmul.b.get(), matmul.bias.get(),
                                matmul.c.get()),
              what);
        const auto iterator =
            make<dnnl_primitive_desc_iterator_t>(what, iterator_destroy_, [&](auto* made) {
                return iterator_create_(made, &description, attributes, engine, nullptr);
            });
        const auto fetch = [&] {
            return Handle<dnnl_primitive_desc_t>(iterator_fetch_(iterator.get()),
                                                 api_.primitive_desc_destroy);
        };
        auto first = fetch();
        if (preferred.empty()) return first;
        do {
            auto candidate = fetch();
            if (implementation_name(api_, candidate, what) == preferred) return candidate;
        } while (iterator_next_(iterator.get()) == dnnl_success);
        return first;
    }

  private:
    const Api& api_;
    decltype(&dnnl_memory_desc_init_by_strides) memory_desc_init_by_strides_ = nullptr;
    decltype(&dnnl_post_ops_append_eltwise) post_ops_append_eltwise_ = nullptr;
    decltype(&dnnl_matmul_desc_init) matmul_desc_init_ = nullptr;
    decltype(&dnnl_primitive_desc_iterator_create) iterator_create_ = nullptr;
    decltype(&dnnl_primitive_desc_iterator_next) iterator_next_ = nullptr;
    decltype(&dnnl_primitive_desc_iterator_fetch) iterator_fetch_ = nullptr;
    decltype(&dnnl_primitive_desc_iterator_destroy) iterator_destroy_ = nullptr;
};

}  // namespace

std::unique_ptr<VersionedApi> versioned_api(const device::SharedLibrary& library, const Api& api) {
    return std::make_unique<Version2>(library, api);
}

}  // namespace assay::cpu::onednn
