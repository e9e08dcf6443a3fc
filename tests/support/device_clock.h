// Host time that is the fake device's.
#pragma once

#include "measure/clock.h"
#include "support/fake_device.h"

namespace assay::device {

class DeviceClock final : public measure::Clock {
  public:
    explicit DeviceClock(FakeDevice& device) : device_(device) {}
    double now() override { return device_.now(); }
    void sleep(double seconds) override { device_.advance(seconds); }

  private:
    FakeDevice& device_;
};

}  // namespace assay::device
