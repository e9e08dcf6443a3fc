// Operands filled on the device, bit for bit as work::fill does.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "work/fill.h"

namespace assay::ops {

class Fill : public device::Facility {
  public:
    static constexpr const char* kName = "fill";
    // `out` is a device address of `count` elements of `type`; element 0 has index 0.
    virtual void enqueue(device::Stream& stream, const work::FillSpec& spec, work::Type type,
                         std::uint64_t count, void* out) = 0;
};

}  // namespace assay::ops
