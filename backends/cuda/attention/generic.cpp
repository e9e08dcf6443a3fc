#include "cuda/attention/generic.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/version.h"
#include "cuda/attention/kernels.h"
#include "cuda/attention/plan.h"
#include "cuda/check.h"
#include "cuda/cuda_buffer.h"
#include "cuda/cuda_stream.h"

namespace assay::cuda {
namespace {

using work::AttentionPass;

int of_device(cudaDeviceAttr attribute) {
    int value = 0;
    ASSAY_CUDA(cudaDeviceGetAttribute(&value, attribute, device_in_use()));
    return value;
}

template <class Element>
class DeviceArray {
  public:
    explicit DeviceArray(const std::vector<Element>& elements)
        : buffer_(elements.size() * sizeof(Element)) {
        if (elements.empty()) return;
        ASSAY_CUDA(
            cudaMemcpy(buffer_.data(), elements.data(), buffer_.size(), cudaMemcpyHostToDevice));
        // It may return when pageable memory was only staged, and streams don't wait for the rest.
        ASSAY_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
    }
    const Element* data() { return static_cast<const Element*>(buffer_.data()); }
    std::size_t bytes() const { return buffer_.size(); }

  private:
    CudaBuffer buffer_;
};

// A plan's parts in the device's memory.
struct PlanOnDevice {
    explicit PlanOnDevice(const AttentionPlan& plan)
        : entries(plan.entries),
          first(plan.first),
          tiles(plan.tiles),
          sights(plan.sights),
          blocks(plan.blocks) {}

    std::uint64_t bytes() const {
        return entries.bytes() + first.bytes() + tiles.bytes() + sights.bytes() + blocks.bytes();
    }
    void set(AttentionArguments& arguments) {
        arguments.entries = entries.data();
        arguments.first = first.data();
        arguments.tiles = tiles.data();
        arguments.sights = sights.data();
        arguments.blocks = blocks.data();
    }

    DeviceArray<Entry> entries;
    DeviceArray<std::int64_t> first;
    DeviceArray<std::int32_t> tiles;
    DeviceArray<Sight> sights;
    DeviceArray<std::uint32_t> blocks;
};

std::size_t floats(std::int64_t count) {
    return static_cast<std::size_t>(count) * sizeof(float);
}

// Asked before anything is allocated: what is refused may be larger than the memory.
void require_launchable(const work::Attention& problem, const KernelChoice& choice,
                        const AttentionArguments& arguments) {
    if (most_blocks(choice, arguments, problem.queries, problem.keys) <= kMostBlocks) return;
    throw Unsupported(
        fmt::format("attention {} of {} x {} heads in tiles of {} x {} takes over 2^31 blocks",
                    work::name(choice.pass), problem.batch, problem.heads, facts_of(choice).queries,
                    facts_of(choice).keys),
        "choose a smaller batch or length");
}

class Prepared : public ops::PreparedAttention {
  public:
    Prepared(const work::Attention& problem, const AttentionPlan& plan, const KernelChoice& choice,
             const AttentionArguments& arguments, const std::string& refusal)
        : longest_(problem.queries),
          longest_keys_(problem.keys),
          choice_(choice),
          arguments_(arguments),
          plan_(plan),
          lse_(is_backward() ? floats(plan.rows * problem.heads) : 0),
          delta_(lse_.size()),
          sums_(lse_.size() * static_cast<std::size_t>(arguments_.sum_row)),
          key_sums_(shares() ? floats(key_rows() * arguments_.sum_row) : 0),
          value_sums_(shares() ? floats(key_rows() * arguments_.sum_value_row) : 0) {
        plan_.set(arguments_);
        arguments_.lse_base2 = static_cast<float*>(lse_.data());
        arguments_.delta = static_cast<float*>(delta_.data());
        arguments_.sum_q = static_cast<float*>(sums_.data());
        arguments_.sum_k = static_cast<float*>(key_sums_.data());
        arguments_.sum_v = static_cast<float*>(value_sums_.data());
        ASSAY_CUDA(ready(choice_));
        implementation_.library = "assay";
        implementation_.library_version = version();
        implementation_.algorithm = name_of(choice_);
        implementation_.path = refusal.empty() ? record::Path::fallback : record::Path::portable;
        implementation_.note = refusal.empty() ? "the program's own kernel for every mask and "
                                                 "device; cuDNN's rules allow this case"
                                               : refusal;
        implementation_.workspace_bytes = plan_.bytes() + lse_.size() + delta_.size() +
                                          sums_.size() + key_sums_.size() + value_sums_.size();
    }

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream, const ops::AttentionOperands& operands) override {
        const auto on = CudaStream::of(stream);
        auto arguments = arguments_;
        set_operands(arguments, operands);
        if (!is_backward()) {
            ASSAY_CUDA(launch_attention(choice_, arguments, on));
            return;
        }
        const auto rows = by_rows(arguments, longest_);
        for (auto* sums : {&sums_, &key_sums_, &value_sums_}) {
            if (sums->size() > 0) ASSAY_CUDA(cudaMemsetAsync(sums->data(), 0, sums->size(), on));
        }
        ASSAY_CUDA(launch_prepare_rows(choice_.type, rows, on));
        ASSAY_CUDA(launch_attention(choice_, arguments, on));
        ASSAY_CUDA(launch_finish_rows(choice_.type, rows, on));
        if (!shares()) return;
        ASSAY_CUDA(launch_finish_keys(choice_.type, by_rows(arguments, longest_keys_), on));
    }

  private:
    bool is_backward() const { return choice_.pass == AttentionPass::backward; }
    bool shares() const { return arguments_.shares > 1; }
    std::int64_t key_rows() const { return arguments_.key_rows * arguments_.kv_heads; }

    std::int64_t longest_, longest_keys_;
    KernelChoice choice_;
    AttentionArguments arguments_;
    PlanOnDevice plan_;
    CudaBuffer lse_, delta_, sums_, key_sums_, value_sums_;
    ops::Implementation implementation_;
};

}  // namespace

std::unique_ptr<ops::PreparedAttention> prepare_generic_attention(const work::Attention& problem,
                                                                  AttentionPass pass,
                                                                  const std::string& refusal) {
    if (problem.type == work::Type::fp64) {
        throw Unsupported("no kernel for attention in fp64", "choose fp32, bf16 or fp16");
    }
    const auto choice =
        choose_kernel(problem, pass, of_device(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    const auto facts = facts_of(choice);
    const auto plan =
        plan_attention(problem, facts.queries, facts.keys, pass == AttentionPass::backward);
    auto arguments = arguments_of(problem, plan);
    set_pieces(choice, arguments);
    if (can_share(choice)) {
        const auto shares =
            share_steps(problem, plan, facts.keys, of_device(cudaDevAttrMultiProcessorCount));
        arguments.shares = shares.count;
        arguments.share_steps = shares.steps;
    }
    require_launchable(problem, choice, arguments);
    return std::make_unique<Prepared>(problem, plan, choice, arguments, refusal);
}

}  // namespace assay::cuda
