// What a device's forward pass of attention gave, as the backward pass takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "device/device.h"
#include "ops/attention.h"
#include "work/attention_oracle.h"

namespace assay::probes {

// Rows of o are copied some at a time, in the order in which they lie in memory. The problem must
// outlive it.
class DeviceOutput {
  public:
    DeviceOutput(device::Device& device, const ops::AttentionOperands& operands,
                 const work::Attention& problem);

    // What the backward pass takes from a row, whose d_o is `d_o`.
    work::AttentionRow row(std::int64_t entry, std::int64_t head, std::int64_t row,
                           std::span<const double> d_o);

  private:
    struct Slab {
        std::int64_t first = 0;  // element of o
        std::int64_t entry = -1, chunk = -1;
        std::vector<std::byte> bytes;
    };

    double lse(std::int64_t entry, std::int64_t head, std::int64_t row) const;
    const Slab& slab_of(std::int64_t entry, std::int64_t head, std::int64_t row);

    device::Device& device_;
    const std::byte* o_;
    const work::Attention& problem_;
    std::vector<float> lse_;
    std::map<std::int64_t, Slab> slabs_;  // by head
};

}  // namespace assay::probes
