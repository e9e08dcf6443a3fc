// The device's own clock between two points of a stream: cycles over time, where the clock that the
// vendor's management library reports lags by tens of milliseconds.
#pragma once

#include <cstddef>
#include <vector>

#include "device/device.h"

namespace assay::ops {

class ClockStamps : public device::Facility {
  public:
    static constexpr const char* kName = "clock_stamps";
    // Stamps 0 .. count - 1 may be queued after this. Must not be called while any is queued.
    virtual void reserve(std::size_t count) = 0;
    // Takes a few microseconds of the device.
    virtual void enqueue(device::Stream& stream, std::size_t index) = 0;
    // The mean clock, MHz, between stamps i and i + 1 for i = 0 .. count - 2, after synchronizing;
    // NaN where it can't be told.
    virtual std::vector<double> clock_mhz(std::size_t count) = 0;
};

}  // namespace assay::ops
