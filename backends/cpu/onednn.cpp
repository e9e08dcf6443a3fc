#include "cpu/onednn.h"

#include <optional>

#include "base/error.h"
#include "cpu/affinity.h"
#include "cpu/onednn_api.h"
#include "cpu/openmp.h"
#include "device/shared_library.h"

namespace assay::cpu {
namespace onednn {

void check(dnnl_status_t status, const std::string& what) {
    switch (status) {
        case dnnl_success:
            return;
        case dnnl_unimplemented:
            throw Unsupported("oneDNN can't do " + what);
        case dnnl_out_of_memory:
            throw Unsupported("oneDNN has not enough memory for " + what);
        default:
            throw Error("oneDNN failed with status " + std::to_string(status) + " in " + what);
    }
}

std::string_view implementation_name(const Api& api, const Handle<dnnl_primitive_desc_t>& primitive,
                                     const std::string& what) {
    const char* name = nullptr;
    check(api.primitive_desc_query(primitive.get(), dnnl_query_impl_info_str, 0, &name), what);
    return name;
}

namespace {

dnnl_data_type_t data_type(work::Type type) {
    switch (type) {
        case work::Type::fp32:
            return dnnl_f32;
        case work::Type::bf16:
            return dnnl_bf16;
        case work::Type::int8:
            return dnnl_s8;
        case work::Type::int32:
            return dnnl_s32;
        default:
            throw Unsupported("oneDNN has no products of " + std::string(work::name(type)));
    }
}

std::string text(const work::Matmul& problem) {
    return "a product of " + std::to_string(problem.m) + "x" + std::to_string(problem.n) + "x" +
           std::to_string(problem.k) + " in " + std::string(work::name(problem.operand));
}

class Product : public OneDnnMatmul {
  public:
    Product(const Api& api, const VersionedApi& versioned, dnnl_engine_t engine,
            dnnl_stream_t stream, const work::Matmul& problem, std::string_view preferred)
        : api_(api), versioned_(versioned), engine_(engine), stream_(stream), what_(text(problem)) {
        const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
        const auto batch = problem.batch;
        const auto operand = data_type(problem.operand);
        const auto output = data_type(problem.output);
        MatmulDescription matmul;
        matmul.a = describe(batch, m, k, work::a_transposed(problem.layout), operand);
        matmul.b = describe(batch, k, n, work::b_transposed(problem.layout), operand);
        matmul.c = describe(batch, m, n, false, output);
        if (work::has_bias(problem.epilogue)) {
            matmul.bias = describe(batch, 1, n, false, output, true);
        }
        const auto chosen = choose(matmul, work::has_gelu(problem.epilogue), preferred);
        implementation_ = implementation_name(api_, chosen, what_);
        primitive_ = make<dnnl_primitive_t>(what_, api_.primitive_destroy, [&](auto* primitive) {
            return api_.primitive_create(primitive, chosen.get());
        });
        a_ = add_argument(DNNL_ARG_SRC, matmul.a.get());
        b_ = add_argument(DNNL_ARG_WEIGHTS, matmul.b.get());
        c_ = add_argument(DNNL_ARG_DST, matmul.c.get());
        if (matmul.bias) bias_ = add_argument(DNNL_ARG_BIAS, matmul.bias.get());
        if (const MemoryView scratchpad =
                api_.primitive_desc_query_md(chosen.get(), dnnl_query_scratchpad_md, 0)) {
            scratchpad_bytes_ = api_.memory_desc_get_size(scratchpad);
            scratchpad_ = add_argument(DNNL_ARG_SCRATCHPAD, scratchpad);
        }
    }

    const std::string& implementation() const override { return implementation_; }
    std::uint64_t scratchpad_bytes() const override { return scratchpad_bytes_; }

    void execute(const ops::MatmulOperands& operands, void* scratchpad) override {
        place(a_, operands.a);
        place(b_, operands.b);
        place(c_, operands.c);
        place(bias_, operands.bias);
        place(scratchpad_, scratchpad);
        check(api_.primitive_execute(primitive_.get(), stream_, static_cast<int>(arguments_.size()),
                                     arguments_.data()),
              what_);
        check(api_.stream_wait(stream_), what_);
    }

  private:
    // Rows x columns of each product of the batch, row-major or transposed in memory; `shared`: one
    // matrix serves the whole batch. A batch of one has two dimensions, which have faster paths.
    MemoryDescription describe(std::int64_t batch, std::int64_t rows, std::int64_t columns,
                               bool transposed, dnnl_data_type_t type, bool shared = false) {
        const dnnl_dims_t dims{shared ? 1 : batch, rows, columns};
        const dnnl_dims_t strides{rows * columns, transposed ? 1 : columns, transposed ? rows : 1};
        const int skip = batch == 1 ? 1 : 0;
        return versioned_.describe(3 - skip, dims + skip, strides + skip, type, what_);
    }

    Handle<dnnl_primitive_desc_t> choose(const MatmulDescription& matmul, bool gelu,
                                         std::string_view preferred) {
        const auto post_ops = make<dnnl_post_ops_t>(
            what_, api_.post_ops_destroy, [&](auto* made) { return api_.post_ops_create(made); });
        if (gelu) versioned_.append_gelu(post_ops.get(), what_);
        const auto attributes = make<dnnl_primitive_attr_t>(
            what_, api_.primitive_attr_destroy,
            [&](auto* made) { return api_.primitive_attr_create(made); });
        check(api_.primitive_attr_set_post_ops(attributes.get(), post_ops.get()), what_);
        check(api_.primitive_attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user),
              what_);
        return versioned_.choose(matmul, attributes.get(), engine_, preferred, what_);
    }

    dnnl_memory_t add_argument(int index, MemoryView description) {
        memories_.push_back(make<dnnl_memory_t>(what_, api_.memory_destroy, [&](auto* made) {
            return api_.memory_create(made, description, engine_, DNNL_MEMORY_NONE);
        }));
        arguments_.push_back({index, memories_.back().get()});
        return memories_.back().get();
    }

    void place(dnnl_memory_t memory, const void* address) {
        if (memory == nullptr) return;
        check(api_.memory_set_data_handle(memory, const_cast<void*>(address)), what_);
    }

    const Api& api_;
    const VersionedApi& versioned_;
    dnnl_engine_t engine_;
    dnnl_stream_t stream_;
    std::string what_;
    std::string implementation_;
    Handle<dnnl_primitive_t> primitive_{nullptr, nullptr};
    std::vector<Handle<dnnl_memory_t>> memories_;
    std::vector<dnnl_exec_arg_t> arguments_;
    dnnl_memory_t a_ = nullptr, b_ = nullptr, c_ = nullptr, bias_ = nullptr, scratchpad_ = nullptr;
    std::uint64_t scratchpad_bytes_ = 0;
};

// Where the thread that loads libgomp must be allowed to run: it drops all other places.
std::vector<int> cpus_of(const std::vector<Core>& cores) {
    std::vector<int> cpus;
    for (const Core& core : cores) cpus.push_back(core.cpus.front());
    return cpus;
}

class Library : public OneDnn {
  public:
    explicit Library(const std::vector<Core>& cores)
        : affinity_(std::in_place, cpus_of(cores)),
          environment_(std::in_place, cores),
          library_("ASSAY_LIB_DNNL", {ASSAY_DNNL_SONAME}),
          api_(library_) {
        library_.bind(omp_get_max_threads_, "omp_get_max_threads");
        library_.bind(gomp_parallel_, "GOMP_parallel");
        note_ = environment_->note();
        environment_.reset();  // libgomp has read it
        // Threads that libgomp doesn't place, because the user said so or it was loaded before,
        // keep the affinity of the thread that starts them: it starts them now.
        gomp_parallel_([](void*) {}, nullptr, 0, 0);
        affinity_.reset();
        const dnnl_version_t* v = api_.version();
        version_ = std::to_string(v->major) + '.' + std::to_string(v->minor) + '.' +
                   std::to_string(v->patch);
        if (v->major != DNNL_VERSION_MAJOR) {
            throw Unsupported(library_.file() + " is oneDNN " + version_ + ", not " +
                              std::to_string(DNNL_VERSION_MAJOR) + ".x");
        }
        versioned_ = versioned_api(library_, api_);
        engine_ = make<dnnl_engine_t>("its engine", api_.engine_destroy, [&](auto* made) {
            return api_.engine_create(made, dnnl_cpu, 0);
        });
        stream_ = make<dnnl_stream_t>("its stream", api_.stream_destroy, [&](auto* made) {
            return api_.stream_create(made, engine_.get(), dnnl_stream_default_flags);
        });
    }

    const std::string& file() const override { return library_.file(); }
    const std::string& version() const override { return version_; }
    const std::string& note() const override { return note_; }
    int threads() const override { return omp_get_max_threads_(); }

    bool native(work::Type type) const override {
        const unsigned used = api_.get_effective_cpu_isa();
        const auto has = [&](unsigned isa) { return (used & isa) == isa; };
        switch (type) {
            case work::Type::bf16:
                return has(dnnl_cpu_isa_avx512_core_bf16);
            case work::Type::int8:
                return has(dnnl_cpu_isa_avx512_core_vnni) || has(dnnl_cpu_isa_avx2_vnni);
            default:
                return true;
        }
    }

    std::unique_ptr<OneDnnMatmul> matmul(const work::Matmul& problem,
                                         std::string_view preferred) override {
        return std::make_unique<Product>(api_, *versioned_, engine_.get(), stream_.get(), problem,
                                         preferred);
    }

  private:
    // Before the library, since they hold while that loads.
    std::optional<AffinityScope> affinity_;
    std::optional<OpenMpEnvironment> environment_;
    device::SharedLibrary library_;
    Api api_;
    std::unique_ptr<VersionedApi> versioned_;
    int (*omp_get_max_threads_)() = nullptr;
    // What `#pragma omp parallel` calls (libgomp's ABI, which libomp has too).
    void (*gomp_parallel_)(void (*)(void*), void*, unsigned, unsigned) = nullptr;
    std::string version_, note_;
    Handle<dnnl_engine_t> engine_{nullptr, nullptr};
    Handle<dnnl_stream_t> stream_{nullptr, nullptr};
};

}  // namespace
}  // namespace onednn

OneDnn& OneDnn::instance(const std::vector<Core>& cores) {
    // A constructor that throws leaves it unset, for the next call to try again. Never destroyed:
    // the library's own statics may be gone before ours.
    static OneDnn& library = *new onednn::Library(cores);
    return library;
}

}  // namespace assay::cpu
