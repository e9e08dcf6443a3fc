// Samples one subject under a protocol.
#pragma once

#include <optional>
#include <vector>

#include "device/telemetry.h"
#include "measure/clock.h"
#include "measure/protocol.h"
#include "measure/subject.h"
#include "stats/stop_rule.h"

namespace assay::measure {

struct Sampling {
    std::vector<double> seconds;                // one call, in order
    std::vector<device::Reading> telemetry;     // beside them, t from the clock
    std::vector<std::string> throttle_reasons;  // seen at any reading, each once
    int calls_per_sample = 1;
    stats::StopReason stop = stats::StopReason::TimeLimit;
    std::optional<bool> settled;  // only where the protocol settles
    double settle_s = 0;
    double sampling_s = 0;  // wall time of the sampling
};

class Sampler {
  public:
    // `telemetry` may be null. Both must outlive the sampler.
    Sampler(Clock& clock, device::Telemetry* telemetry, Protocol protocol);

    // A sample holds as many calls as make it 100 x the timer's resolution. An interruption ends
    // the sampling with what is there and StopReason::Interrupted.
    Sampling sample(Subject& subject);

    // Already at a steady rate: skip the settling (the suite settles once).
    void assume_settled() { settled_ = true; }

  private:
    Clock& clock_;
    device::Telemetry* telemetry_;
    Protocol protocol_;
    bool settled_ = false;
};

}  // namespace assay::measure
