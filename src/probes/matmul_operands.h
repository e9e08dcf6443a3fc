// The operands of a product on a device: as many sets as a cold run must rotate over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "device/device.h"
#include "measure/stream_subject.h"
#include "ops/matmul.h"
#include "probes/matmul_problem.h"
#include "probes/rotating_sets.h"

namespace assay::probes {

// Streams of the random filler, one an operand.
inline constexpr std::uint32_t kStreamA = 0, kStreamB = 1, kStreamBias = 2;

class RotatingOperands {
  public:
    // As many sets as rotating_sets.h says. Fills A, B and the bias, and poisons set 0's C. Throws
    // Unsupported naming the bytes needed and free.
    RotatingOperands(device::Device& device, const MatmulCase& matmul, std::uint64_t seed);

    ops::MatmulOperands set(std::size_t index) const;  // index modulo sets()
    int sets() const { return sets_.sets(); }
    std::uint64_t footprint_bytes() const { return sets_.footprint_bytes(); }
    // "" or why fewer sets than a cold run wants had to do.
    const std::string& note() const { return sets_.note(); }

  private:
    RotatingSets sets_;
};

// A subject that calls `matmul` on one set after the other. Both must outlive it.
std::unique_ptr<measure::StreamSubject> rotating_subject(std::string name, device::Device& device,
                                                         ops::PreparedMatmul& matmul,
                                                         const RotatingOperands& operands,
                                                         std::function<void()> clear = {});

}  // namespace assay::probes
