#include "cpu/memory.h"

#include <numeric>
#include <string>
#include <vector>

#include "base/version.h"
#include "cpu/cpu_stream.h"
#include "cpu/memory_kernels.h"
#include "cpu/share.h"

namespace assay::cpu {
namespace {

// A partial sum to itself on a cache line, or members would fight over it.
struct alignas(64) PartialSum {
    double value = 0;
};

class Prepared : public ops::PreparedMemory {
  public:
    Prepared(ThreadTeam& team, const ops::MemoryRequest& request)
        : team_(team), request_(request), kernels_(memory_kernels()) {
        if (team.size(request.node) == 0) {
            throw Unsupported("NUMA node " + std::to_string(request.node) + " has no usable core");
        }
        sums_.resize(static_cast<std::size_t>(team.size(request.node)));
        const MemoryKernels& best = best_memory_kernels();
        const bool stores = work::arrays_written(request.op) > 0;
        implementation_.library = "assay";
        implementation_.library_version = version();
        implementation_.algorithm = std::string(kernels_.name);
        if (stores)
            implementation_.algorithm +=
                request.in_cache ? ", plain stores" : ", non-temporal stores";
        implementation_.path = record::Path::fast;
        if (&kernels_ != &best) {
            implementation_.path = record::Path::fallback;
            implementation_.note = "ASSAY_CPU_ISA=" + std::string(kernels_.name) + " where " +
                                   std::string(best.name) + " runs";
        }
        implementation_.threads = static_cast<int>(sums_.size());
    }

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream, const ops::MemoryOperands& operands) override {
        CpuStream::of(stream).enqueue([this, operands] {
            team_.run(
                [&](int index, int count) {
                    for (int pass = 0; pass < request_.passes; ++pass) {
                        run_share(operands, index, count);
                    }
                },
                request_.node);
        });
    }

    double sum() override {
        return std::accumulate(sums_.begin(), sums_.end(), 0.0,
                               [](double total, const PartialSum& s) { return total + s.value; });
    }

  private:
    void run_share(const ops::MemoryOperands& operands, int index, int count) {
        const Share share = share_of(request_.bytes_per_array, index, count);
        const std::size_t n = share.bytes / sizeof(float);
        const auto part = [&](auto* array) {  // an array that the op doesn't use stays null
            return array == nullptr ? nullptr : array + share.first / sizeof(float);
        };
        const auto* a = part(static_cast<const float*>(operands.a));
        const auto* b = part(static_cast<const float*>(operands.b));
        auto* c = part(static_cast<float*>(operands.c));
        const bool past_caches = !request_.in_cache;
        switch (request_.op) {
            case work::MemoryOp::copy:
                kernels_.copy(a, c, n, past_caches);
                break;
            case work::MemoryOp::read:
                sums_[static_cast<std::size_t>(index)].value = kernels_.read(a, n);
                break;
            case work::MemoryOp::write:
                kernels_.write(work::kScalar, c, n, past_caches);
                break;
            case work::MemoryOp::scale:
                kernels_.scale(work::kScalar, a, c, n, past_caches);
                break;
            case work::MemoryOp::add:
                kernels_.add(a, b, c, n, past_caches);
                break;
            case work::MemoryOp::triad:
                kernels_.triad(work::kScalar, a, b, c, n, past_caches);
                break;
        }
    }

    ThreadTeam& team_;
    ops::MemoryRequest request_;
    const MemoryKernels& kernels_;
    std::vector<PartialSum> sums_;
    ops::Implementation implementation_;
};

}  // namespace

std::unique_ptr<ops::PreparedMemory> CpuMemory::prepare(const ops::MemoryRequest& request) {
    return std::make_unique<Prepared>(team_, request);
}

}  // namespace assay::cpu
