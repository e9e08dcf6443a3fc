// The operands of a product on a device: as many sets as a cold run must rotate over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "device/device.h"
#include "measure/stream_subject.h"
#include "ops/matmul.h"
#include "probes/matmul_problem.h"

namespace assay::probes {

// Streams of the random filler, one an operand.
inline constexpr std::uint32_t kStreamA = 0, kStreamB = 1, kStreamBias = 2;

// What every byte of C is before the first product, as no product gives it: 0x7f7f... is 3.4e38 in
// fp32 and bf16, 127 in int8. So a kernel that writes nothing is found.
inline constexpr std::byte kPoison{0x7f};

class RotatingOperands {
  public:
    // Cold: sets whose footprint is at least twice the last-level cache, two at least, but no more
    // than half of the free memory allows. Hot: one set. Fills A, B and the bias. Throws
    // Unsupported naming the bytes needed and free.
    RotatingOperands(device::Device& device, const MatmulCase& matmul, std::uint64_t seed);

    ops::MatmulOperands set(std::size_t index) const;  // index modulo sets()
    int sets() const { return sets_; }
    std::uint64_t footprint_bytes() const { return set_bytes_ * static_cast<std::uint64_t>(sets_); }
    // "" or why fewer sets than a cold run wants had to do.
    const std::string& note() const { return note_; }

  private:
    void fill();

    device::Device& device_;
    MatmulCase matmul_;
    std::uint64_t seed_;
    int sets_ = 1;
    std::uint64_t set_bytes_ = 0;
    std::string note_;
    std::unique_ptr<device::Buffer> a_, b_, c_, bias_;
};

// A subject that calls `matmul` on one set after the other. Both must outlive it.
std::unique_ptr<measure::StreamSubject> rotating_subject(std::string name, device::Device& device,
                                                         ops::PreparedMatmul& matmul,
                                                         const RotatingOperands& operands,
                                                         std::function<void()> clear = {});

}  // namespace assay::probes
