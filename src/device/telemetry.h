// What a device says of its state while it works.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::device {

struct Reading {
    // When the device was looked at: s, base/time.h's monotonic clock, on which samples are timed
    // too. Where a thread of its own looks now and then, that is up to 25 ms before read(), so the
    // first reading beside some samples may be older than they are.
    double t = 0;
    std::optional<double> clock_mhz;
    std::optional<double> power_w;   // now, not an average, where both exist
    std::optional<double> energy_j;  // counter since some start
    std::optional<double> temperature_c;
    std::optional<double> throttled_count;  // counter of throttle events
};

class Telemetry {
  public:
    virtual ~Telemetry() = default;
    // Takes well under a millisecond and leaves the device alone.
    virtual Reading read() = 0;
    // What is limiting the device now, in the vendor's words; empty when nothing is.
    virtual std::vector<std::string> throttle_reasons() = 0;
    // What may change from one case to the next and change a number: power limit, application
    // clocks, other processes on the device.
    virtual std::map<std::string, std::string> settings() { return {}; }
    // How the quantity is read ("perf: cpu-cycles over task-clock"), or "unavailable: REASON".
    virtual std::string clock_source() const = 0;
    virtual std::string power_source() const = 0;
};

}  // namespace assay::device
