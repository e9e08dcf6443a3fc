#include "cpu/attention.h"

#include <atomic>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/version.h"
#include "cpu/attention_backward.h"
#include "cpu/attention_forward.h"
#include "cpu/attention_kernels.h"
#include "cpu/attention_plan.h"
#include "cpu/cpu_buffer.h"
#include "cpu/cpu_stream.h"
#include "cpu/share.h"

namespace assay::cpu {
namespace {

constexpr const char* kProvider = "tiled";

class Prepared : public ops::PreparedAttention {
  public:
    Prepared(const work::Attention& problem, work::AttentionPass pass, const Topology& topology,
             ThreadTeam& team)
        : problem_(problem),
          pass_(pass),
          team_(team),
          kernels_(attention_kernels()),
          plan_(problem_) {
        if (pass == work::AttentionPass::forward) {
            tiles_ = most_forward_tiles(problem_);
            how_.jobs = plan_.jobs(AttentionJob::Kind::output, tiles_, team.size());
        } else {
            how_ = backward_jobs(plan_, team.size());
        }
        Carver counting(nullptr);
        const AttentionCall call{plan_, kernels_, {}};
        if (pass == work::AttentionPass::forward) {
            const AttentionForward counted(call, counting, tiles_);
        } else {
            const AttentionBackward counted(call, counting, how_);
        }
        // Whole pages, so that a buffer's shares are the members' parts of it.
        a_thread_ = (counting.taken() + kPage - 1) / kPage * kPage;
        const auto threads = static_cast<std::size_t>(team.size());
        workspace_ =
            std::make_unique<CpuBuffer>(threads * a_thread_, device::kAnyNode, topology, team);
        describe();
    }

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream, const ops::AttentionOperands& operands) override {
        CpuStream::of(stream).enqueue([this, operands] {
            const AttentionCall call{plan_, kernels_, operands};
            std::atomic<std::size_t> next{0};
            team_.run([&](int index, int) {
                Carver carver(static_cast<std::byte*>(workspace_->data()) +
                              static_cast<std::size_t>(index) * a_thread_);
                if (pass_ == work::AttentionPass::forward) {
                    take_jobs(AttentionForward(call, carver, tiles_), next);
                } else {
                    take_jobs(AttentionBackward(call, carver, how_), next);
                }
            });
        });
    }

  private:
    template <class Part>
    void take_jobs(Part part, std::atomic<std::size_t>& next) const {
        for (;;) {
            const auto job = next.fetch_add(1, std::memory_order_relaxed);
            if (job >= how_.jobs.size()) return;
            part.run(how_.jobs[job]);
        }
    }

    void describe() {
        implementation_.library = "assay";
        implementation_.library_version = version();
        implementation_.algorithm =
            fmt::format("{} {} {}x{}", kProvider, kernels_.name, kQueryTile, kKeyTile);
        implementation_.path = record::Path::fast;
        implementation_.workspace_bytes = workspace_->size();
        implementation_.threads = team_.size();
        if (pass_ == work::AttentionPass::backward) {
            implementation_.algorithm += how_.one_pass ? ", one pass" : ", two passes";
        }
        const auto& best = *runnable_attention_kernels().front();
        if (&kernels_ != &best) {
            implementation_.path = record::Path::fallback;
            implementation_.note =
                fmt::format("ASSAY_CPU_ISA={} where {} runs", kernels_.name, best.name);
        } else if (problem_.type != work::Type::fp32) {
            implementation_.path = record::Path::emulated;
            implementation_.note = fmt::format("{} computed in fp32", work::name(problem_.type));
        } else if (&kernels_ == &kBaselineAttention) {
            implementation_.path = record::Path::portable;
            implementation_.note = "compiled for any processor of its kind";
        }
    }

    work::Attention problem_;
    work::AttentionPass pass_;
    ThreadTeam& team_;
    const AttentionKernels& kernels_;
    AttentionPlan plan_;
    std::int64_t tiles_ = 0;  // of rows, of a job of the forward pass
    BackwardJobs how_;        // of the forward pass only the jobs
    std::size_t a_thread_ = 0;
    std::unique_ptr<CpuBuffer> workspace_;
    ops::Implementation implementation_;
};

}  // namespace

std::vector<std::string> CpuAttention::providers() const {
    return {kProvider};
}

std::unique_ptr<ops::PreparedAttention> CpuAttention::prepare(const work::Attention& problem,
                                                              work::AttentionPass pass,
                                                              const std::string& provider) {
    if (!provider.empty() && provider != kProvider) {
        throw Unsupported(fmt::format("the CPU has one way to attention, not {}", provider),
                          fmt::format("ask for {}", kProvider));
    }
    work::validate(problem);
    if (problem.type == work::Type::fp64) {
        throw Unsupported("the CPU has no attention of fp64", "it has fp32, bf16 and fp16");
    }
    return std::make_unique<Prepared>(problem, pass, topology_, team_);
}

}  // namespace assay::cpu
