#include "cuda/attention/generic.h"

#include <limits>

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

std::int64_t shared_bytes_of_device() {
    int bytes = 0;
    ASSAY_CUDA(
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device_in_use()));
    return bytes;
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
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    const bool backward = choice.pass == AttentionPass::backward;
    const auto rows = row_blocks(by_rows(arguments, problem.queries));
    if (blocks_of(choice, arguments) <= kMost && (!backward || rows <= kMost)) return;
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
          choice_(choice),
          arguments_(arguments),
          plan_(plan),
          lse_(is_backward() ? floats(plan.rows * problem.heads) : 0),
          delta_(lse_.size()),
          sums_(lse_.size() * static_cast<std::size_t>(arguments_.sum_row)) {
        plan_.set(arguments_);
        arguments_.lse_base2 = static_cast<float*>(lse_.data());
        arguments_.delta = static_cast<float*>(delta_.data());
        arguments_.sum_q = static_cast<float*>(sums_.data());
        ASSAY_CUDA(ready(choice_));
        implementation_.library = "assay";
        implementation_.library_version = version();
        implementation_.algorithm = facts_of(choice_).name;
        implementation_.path = refusal.empty() ? record::Path::fallback : record::Path::portable;
        implementation_.note = refusal.empty() ? "the program's own kernel for every mask and "
                                                 "device; cuDNN's rules allow this case"
                                               : refusal;
        implementation_.workspace_bytes =
            plan_.bytes() + lse_.size() + delta_.size() + sums_.size();
    }

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream, const ops::AttentionOperands& operands) override {
        const auto on = CudaStream::of(stream);
        auto arguments = arguments_;
        set_operands(arguments, operands);
        if (!is_backward()) {
            launch_attention(choice_, arguments, on);
            ASSAY_CUDA_LAUNCHED("attention forward");
            return;
        }
        const auto rows = by_rows(arguments, longest_);
        if (sums_.size() > 0) ASSAY_CUDA(cudaMemsetAsync(sums_.data(), 0, sums_.size(), on));
        launch_prepare_rows(choice_.type, rows, on);
        ASSAY_CUDA_LAUNCHED("attention backward, delta");
        launch_attention(choice_, arguments, on);
        ASSAY_CUDA_LAUNCHED("attention backward");
        launch_finish_rows(choice_.type, rows, on);
        ASSAY_CUDA_LAUNCHED("attention backward, d_q");
    }

  private:
    bool is_backward() const { return choice_.pass == AttentionPass::backward; }

    std::int64_t longest_;
    KernelChoice choice_;
    AttentionArguments arguments_;
    PlanOnDevice plan_;
    CudaBuffer lse_, delta_, sums_;
    ops::Implementation implementation_;
};

}  // namespace

std::unique_ptr<ops::PreparedAttention> prepare_generic_attention(const work::Attention& problem,
                                                                  AttentionPass pass,
                                                                  const std::string& refusal) {
    if (problem.type == work::Type::fp64) {
        throw Unsupported("no kernel for attention in fp64", "choose fp32, bf16 or fp16");
    }
    const auto choice = choose_kernel(problem, pass, shared_bytes_of_device());
    const auto facts = facts_of(choice);
    const auto plan =
        plan_attention(problem, facts.queries, facts.keys, pass == AttentionPass::backward);
    auto arguments = arguments_of(problem, plan);
    set_pieces(choice, arguments);
    require_launchable(problem, choice, arguments);
    return std::make_unique<Prepared>(problem, plan, choice, arguments, refusal);
}

}  // namespace assay::cuda
