// Samples one subject under a protocol.
//
// The samples are taken in chunks of 0.1 s, in boost of a burst, with a reading of the telemetry
// before the first and after each one. Whether to stop is asked between chunks.
//
// The first call of a burst finds threads asleep, clocks low and caches cold from the idling, which
// is no property of the call, so it is run but not counted: what nvbench has a warm-up run for, and
// mamf-finder a filter on the clock. It is one of the burst's 20 calls and 30 ms, so that a burst
// heats the device no more. Where a burst holds fewer than 10 calls it is counted like the others:
// waking is a small part of calls that long, and leaving one out would cost much of the data.
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
    std::vector<double> seconds;    // one call, in order
    std::vector<double> clock_mhz;  // during each; empty where none is stamped
    // Beside them, each once; t in s since sampling began, just below 0 where the first reading was
    // taken before (device/telemetry.h).
    std::vector<device::Reading> telemetry;
    std::vector<std::string> throttle_reasons;  // seen at any reading, each once
    int calls_per_sample = 1;
    stats::StopReason stop = stats::StopReason::TimeLimit;
    std::optional<bool> settled;  // only where the protocol settles
    double settle_s = 0;
    double sampling_s = 0;  // host time of the sampling
};

class Sampler {
  public:
    // `telemetry` may be null; its readings' t are on `clock`. Both must outlive the sampler.
    Sampler(Clock& clock, device::Telemetry* telemetry, Protocol protocol);

    // A sample holds as many calls as make it 100 x the timer's resolution (one, where caches are
    // cleared between samples). Takes at least one sample; starts no chunk that would end beyond
    // the limit; a fixed time ends with StopReason::TimeLimit. An interruption ends the sampling
    // with what is there, even nothing, and StopReason::Interrupted. Throws Error for a time that
    // is negative or not finite, or of calls too short to be timed.
    Sampling sample(Subject& subject);

  private:
    Clock& clock_;
    device::Telemetry* telemetry_;
    Protocol protocol_;
};

}  // namespace assay::measure
