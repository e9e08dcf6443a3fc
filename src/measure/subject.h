// What is measured: one call, repeated.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace assay::measure {

class Subject {
  public:
    virtual ~Subject() = default;
    virtual std::string name() const = 0;
    // Runs seconds.size() x calls_per_sample calls back to back, nothing between them, and writes
    // for each sample the device's time of one call, in seconds. Returns when all are complete.
    virtual void run(std::span<double> seconds, int calls_per_sample) = 0;
    // The device's clock, MHz, during each sample of the last run(), NaN where it can't be told;
    // empty where the device stamps no clocks.
    virtual std::span<const double> clock_mhz() const { return {}; }
    // Runs between samples, outside the timed span, where a protocol clears caches; a subject that
    // rotates its operands does nothing.
    virtual void clear_caches() {}
    // What taking the time adds between two samples, in seconds: nothing of the call runs then.
    // None where it can't be told.
    virtual std::optional<double> gap() const { return std::nullopt; }
    // The smallest difference of time that run() can see, in seconds.
    virtual double resolution() const = 0;
};

}  // namespace assay::measure
