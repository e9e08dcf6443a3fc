// Host time, abstract so that a protocol can be proved against scripted time.
#pragma once

namespace assay::measure {

class Clock {
  public:
    virtual ~Clock() = default;
    virtual double now() = 0;                // s, monotonic
    virtual void sleep(double seconds) = 0;  // idle; returns early when interrupted
};

class SteadyClock final : public Clock {
  public:
    double now() override;
    void sleep(double seconds) override;
};

}  // namespace assay::measure
