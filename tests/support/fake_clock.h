// A clock that moves only when told to.
#pragma once

#include <vector>

#include "measure/clock.h"

namespace assay::measure {

class FakeClock final : public Clock {
  public:
    double now() override { return now_; }
    void sleep(double seconds) override {
        sleeps.push_back(seconds);
        now_ += seconds;
    }
    void advance(double seconds) { now_ += seconds; }

    std::vector<double> sleeps;

  private:
    double now_ = 100;  // as far from 0 as a real clock is
};

}  // namespace assay::measure
