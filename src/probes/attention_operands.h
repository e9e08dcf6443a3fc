// The tensors of attention on a device: as many sets as a cold run must rotate over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "measure/stream_subject.h"
#include "ops/attention.h"
#include "probes/attention_problem.h"

namespace assay::probes {

// Streams of the random filler, one a tensor; packed q, k and v share the first.
inline constexpr std::uint32_t kStreamQ = 0, kStreamK = 1, kStreamV = 2, kStreamScoreBias = 3,
                               kStreamGradient = 4;

// Where the values of a tensor of set 0 come from: the stream, and its element that is the tensor's
// first.
struct FillPlace {
    std::uint32_t stream = 0;
    std::int64_t first = 0;  // elements
};
FillPlace fill_place(const AttentionCase& attention, work::AttentionTensor tensor);

class RotatingAttention {
  public:
    // Cold: sets whose footprint is at least twice the last-level cache, two at least, but no more
    // than half of the free memory allows. Hot: one set. Fills q, k, v, the bias and d_o, and
    // poisons set 0's outputs. With `inner`, the same problem with fewer rows or columns at the
    // same strides, all else of q, k, v and d_o is zeros. Throws Unsupported naming the bytes
    // needed and free.
    RotatingAttention(device::Device& device, const AttentionCase& attention, std::uint64_t seed,
                      const work::Attention* inner = nullptr);

    ops::AttentionOperands set(std::size_t index) const;  // index modulo sets()
    int sets() const { return sets_; }
    std::uint64_t footprint_bytes() const { return set_bytes_ * static_cast<std::uint64_t>(sets_); }
    // "" or why fewer sets than a cold run wants had to do.
    const std::string& note() const { return note_; }

  private:
    // A tensor of all sets, one set after the other; packed ones are one tensor.
    struct Part {
        std::uint64_t bytes = 0;  // of one set
        std::unique_ptr<device::Buffer> memory;
    };
    void measure_parts();
    std::vector<Part*> parts();
    void fill(const work::Attention* inner);
    std::byte* at(const Part& part, std::size_t index, std::int64_t first = 0) const;

    device::Device& device_;
    AttentionCase attention_;
    std::uint64_t seed_;
    int sets_ = 1;
    std::uint64_t set_bytes_ = 0;
    std::string note_;
    Part q_, k_, v_, bias_, o_, lse_, d_o_, d_q_, d_k_, d_v_;
};

// A subject that runs `prepared` on one set after the other. Both must outlive it.
std::unique_ptr<measure::StreamSubject> rotating_subject(std::string name, device::Device& device,
                                                         ops::PreparedAttention& prepared,
                                                         const RotatingAttention& operands,
                                                         std::function<void()> clear = {});

// Runs `prepared` once on every set, and waits.
void run_on_every_set(device::Device& device, ops::PreparedAttention& prepared,
                      const RotatingAttention& operands);

}  // namespace assay::probes
