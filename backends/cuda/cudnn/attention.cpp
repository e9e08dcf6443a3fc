#include "cuda/cudnn/attention.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "cuda/check.h"
#include "cuda/cuda_buffer.h"
#include "cuda/cuda_stream.h"
#include "cuda/cudnn/attention_graph.h"
#include "cuda/cudnn/bans.h"
#include "cuda/cudnn/operations.h"
#include "cuda/cudnn/plans.h"
#include "cuda/cudnn/support.h"

namespace assay::cuda {

namespace {

using work::AttentionTensor;

constexpr std::size_t kAlignment = 256;  // of parts of the scratch
constexpr std::uintptr_t kOperandAlignment = 16;
// As many sets of operands as a rotation over caches may have, and more.
constexpr std::size_t kMostPacks = 4096;

std::size_t aligned(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The address of a tensor by its id; they are written where the pass writes.
void* address_of(const ops::AttentionOperands& operands, TensorId id) {
    switch (id) {
        case id_q:
            return const_cast<void*>(operands.q);
        case id_k:
            return const_cast<void*>(operands.k);
        case id_v:
            return const_cast<void*>(operands.v);
        case id_o:
            return operands.o;
        case id_lse:
            return operands.lse;
        case id_d_o:
            return const_cast<void*>(operands.d_o);
        case id_d_q:
            return operands.d_q;
        case id_d_k:
            return operands.d_k;
        case id_d_v:
            return operands.d_v;
        default:
            return nullptr;
    }
}

// Compact scratch has faults on chips whose attention is that of compute capability 8, and where
// dims aren't multiples of 16.
ScratchSize scratch_for(const work::Attention& p, int capability) {
    const bool sound = capability >= 90 && capability < 120;
    return sound && p.dim % 16 == 0 && p.value_dim % 16 == 0 ? ScratchSize::by_token
                                                             : ScratchSize::by_longest;
}

// The problem's entries as this version wants them. Throws Unsupported for what cuDNN can't do at
// all, which is known without opening it, and for what this version does wrong.
CudnnEntries taken_entries(const work::Attention& problem, work::AttentionPass pass,
                           int capability) {
    auto entries = cudnn_entries(problem, pass);
    require_cudnn_attention(problem, entries, pass, capability);
    const auto& library = Cudnn::instance();
    const CudnnQuestion question{problem, entries, pass, capability, library.number()};
    if (const auto ban = cudnn_ban(question); !ban.empty()) {
        throw Unsupported(fmt::format("cuDNN {}: {}", library.version(), ban),
                          "another version of the library can be named in ASSAY_LIB_CUDNN");
    }
    if (cudnn_wants_lengths(question)) return with_lengths(std::move(entries));
    return entries;
}

void* operand(const ops::AttentionOperands& operands, const GraphTensor& tensor) {
    auto* address = address_of(operands, tensor.id);
    const bool aligned = reinterpret_cast<std::uintptr_t>(address) % kOperandAlignment == 0;
    if (address != nullptr && aligned) return address;
    throw Unsupported(fmt::format("cuDNN takes no {} at address {}", tensor.name, address),
                      "operands are aligned to 16 bytes");
}

class Prepared : public ops::PreparedAttention {
  public:
    Prepared(const work::Attention& problem, work::AttentionPass pass, const std::string& device,
             int capability)
        : library_(Cudnn::instance()), entries_(taken_entries(problem, pass, capability)) {
        graph_ = cudnn_attention_graph(problem, entries_, pass, scratch_for(problem, capability));
        const auto found =
            CudnnPlans::instance().find(graph_, {library_.handle(), nullptr, capability}, device);
        plan_ = found.plan;
        place();
        load_code();
        describe_implementation(found, capability);
    }

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream, const ops::AttentionOperands& operands) override {
        const auto& pack = pack_of(operands);
        auto* handle = library_.handle();
        library_.check(library_.set_stream(handle, CudaStream::of(stream)), "cudnnSetStream");
        library_.check(library_.execute(handle, plan_->descriptor().handle(), pack.handle()),
                       "cudnnBackendExecute of attention");
    }

  private:
    using Addresses = std::vector<void*>;

    // Gives every tensor but the operands its address, and fills the tables.
    void place() {
        std::size_t bytes = aligned(plan_->workspace_bytes());
        bytes = std::max(bytes, kAlignment);
        for (const auto& tensor : graph_.tensors) {
            if (tensor.place == GraphPlace::scratch) bytes += aligned(tensor.bytes);
            if (tensor.place == GraphPlace::table) bytes += aligned(table(tensor.id).size());
        }
        memory_ = std::make_unique<CudaBuffer>(bytes);
        // Rows behind the last entry are multiplied by zeros: they mustn't be NaN.
        ASSAY_CUDA(cudaMemset(memory_->data(), 0, bytes));
        auto* next = static_cast<std::byte*>(memory_->data()) + aligned(plan_->workspace_bytes());
        for (const auto& tensor : graph_.tensors) {
            if (tensor.place == GraphPlace::scratch) {
                own_[tensor.id] = next;
                next += aligned(tensor.bytes);
            } else if (tensor.place == GraphPlace::table) {
                const auto content = table(tensor.id);
                ASSAY_CUDA(
                    cudaMemcpy(next, content.data(), content.size(), cudaMemcpyHostToDevice));
                own_[tensor.id] = next;
                next += aligned(content.size());
            } else if (tensor.place == GraphPlace::constant) {
                auto& bits = constants_[tensor.id];
                bits = tensor.element == GraphElement::int32
                           ? std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(tensor.value))
                           : std::bit_cast<std::uint32_t>(static_cast<float>(tensor.value));
                own_[tensor.id] = &bits;
            }
        }
        // Pageable memory may have been staged only, and streams don't wait for the rest.
        ASSAY_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
    }

    // A kernel's first launch loads its code, which waits for everything that runs: behind a held
    // stream for ever, and not at all while a graph is recorded. A graph that is never launched
    // loads it now; where the library can't make one, the first run has to.
    void load_code() const {
        auto* nowhere = memory_->data();  // nothing of it is read
        const auto pack =
            make_pack({nowhere, nowhere, nowhere, nullptr, nowhere, static_cast<float*>(nowhere),
                       nowhere, nowhere, nowhere, nowhere});
        cudaGraph_t graph = nullptr;
        ASSAY_CUDA(cudaGraphCreate(&graph, 0));
        const auto status = library_.populate_cuda_graph(
            library_.handle(), plan_->descriptor().handle(), pack.handle(), graph);
        cudaGraphExec_t executable = nullptr;
        if (status == CUDNN_STATUS_SUCCESS &&
            cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess) {
            cudaGraphExecDestroy(executable);
        }
        cudaGraphDestroy(graph);
        (void)cudaGetLastError();
    }

    std::vector<std::byte> table(TensorId id) const {
        const auto bytes_of = [](const auto& values) {
            const auto bytes = std::as_bytes(std::span(values));
            return std::vector<std::byte>(bytes.begin(), bytes.end());
        };
        if (id == id_query_lengths) return bytes_of(entries_.query_lengths);
        if (id == id_key_lengths) return bytes_of(entries_.key_lengths);
        return bytes_of(entries_.offsets[static_cast<std::size_t>(id - id_offsets)]);
    }

    void describe_implementation(const FoundPlan& found, int capability) {
        auto& i = implementation_;
        i.library = "cuDNN";
        i.library_file = library_.file();
        i.library_version = library_.version();
        i.algorithm = plan_->engine();
        if (!plan_->kernel().empty()) i.algorithm += " " + plan_->kernel();
        i.path = plan_->is_own_code() ? record::Path::fast : record::Path::fallback;
        i.workspace_bytes = memory_->size();
        if (!plan_->is_own_code()) {
            i.note = fmt::format(
                "cuDNN took code that isn't of this device's own architecture, "
                "sm{}; ",
                capability);
        }
        i.note += describe(found);
    }

    // The same operands come again and again.
    const CudnnDescriptor& pack_of(const ops::AttentionOperands& operands) {
        Addresses key;
        for (TensorId id = id_q; id <= id_d_v; ++id) key.push_back(address_of(operands, id));
        const auto known = packs_.find(key);
        if (known != packs_.end()) return known->second;
        if (packs_.size() >= kMostPacks) packs_.clear();
        return packs_.emplace(std::move(key), make_pack(operands)).first->second;
    }

    CudnnDescriptor make_pack(const ops::AttentionOperands& operands) const {
        std::vector<std::int64_t> ids;
        Addresses addresses;
        for (const auto& tensor : graph_.tensors) {
            if (!has_address(tensor)) continue;
            ids.push_back(tensor.id);
            addresses.push_back(tensor.place == GraphPlace::operand ? operand(operands, tensor)
                                                                    : own_.at(tensor.id));
        }
        CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "the operands");
        pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const std::int64_t>(ids));
        pack.set_addresses(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, addresses);
        void* const workspace[] = {memory_->data()};
        pack.set_addresses(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace);
        pack.finalize();
        return pack;
    }

    const Cudnn& library_;
    CudnnEntries entries_;
    CudnnGraph graph_;
    std::shared_ptr<const CudnnPlan> plan_;
    std::unique_ptr<CudaBuffer> memory_;           // workspace, scratch and tables
    std::map<TensorId, std::uint32_t> constants_;  // their bits
    std::map<TensorId, void*> own_;                // addresses of all but the operands
    std::map<Addresses, CudnnDescriptor> packs_;
    ops::Implementation implementation_;
};

}  // namespace

std::unique_ptr<ops::PreparedAttention> prepare_cudnn_attention(const work::Attention& problem,
                                                                work::AttentionPass pass,
                                                                const std::string& device,
                                                                int capability) {
    work::validate(problem);
    return std::make_unique<Prepared>(problem, pass, device, capability);
}

std::string cudnn_refusal(const work::Attention& problem, work::AttentionPass pass,
                          int capability) {
    try {
        (void)taken_entries(problem, pass, capability);
        return "";
    } catch (const Unsupported& refused) {
        return refused.what();
    }
}

}  // namespace assay::cuda
