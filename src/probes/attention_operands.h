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
#include "probes/rotating_sets.h"

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

// Memory in which cases that differ in a size take turns. A case finds in it what it would have
// filled its own with, since the filler goes by the place of an element; but the outputs are those
// of the case that ran last. Large enough for each that has room alone.
class SharedAttention {
  public:
    SharedAttention(device::Device& device, std::span<const AttentionCase> cases,
                    std::uint64_t seed);

  private:
    friend class RotatingAttention;

    std::uint64_t free_;  // before any of it was taken: what the cases' sets are planned by
    std::vector<RotatingSets::Memory> memory_;  // by operand
};

class RotatingAttention {
  public:
    // As many sets as rotating_sets.h says. Fills q, k, v, the bias and d_o, and poisons set 0's
    // outputs. With `inner`, the same problem with fewer rows or columns at the same strides, all
    // else of q, k, v and d_o is zeros. Throws Unsupported naming the bytes needed and free.
    RotatingAttention(device::Device& device, const AttentionCase& attention, std::uint64_t seed,
                      const work::Attention* inner = nullptr);
    // In shared memory, which this is one of the cases of. Only lse is its own: another's may be
    // so far off that a backward pass overflows.
    RotatingAttention(device::Device& device, const AttentionCase& attention,
                      const SharedAttention& shared);

    ops::AttentionOperands set(std::size_t index) const;  // index modulo sets()
    int sets() const { return sets_.sets(); }
    std::uint64_t footprint_bytes() const { return sets_.footprint_bytes(); }
    // "" or why fewer sets than a cold run wants had to do.
    const std::string& note() const { return sets_.note(); }

  private:
    void fill_inner(device::Device& device, const work::Attention& inner, std::uint64_t seed);

    AttentionCase attention_;
    RotatingSets sets_;  // of packed tensors, which are one, q's are all
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
