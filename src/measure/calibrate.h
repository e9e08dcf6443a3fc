// How many calls a sample needs for the subject's timer to see it well.
#pragma once

#include "measure/clock.h"
#include "measure/subject.h"

namespace assay::measure {

// A sample lasts at least this many times the timer's resolution, so that a tick is 1 % of it.
inline constexpr double kTicksPerSample = 100;

struct Calibration {
    int calls_per_sample = 1;
    double sample_s = 0;  // host time of one sample
};

// Runs the subject: once unmeasured, since the first call pays for what is made on first use, then
// with more and more calls a sample. Throws Error when a million calls are still too short.
Calibration calibrate(Subject& subject, Clock& clock);

}  // namespace assay::measure
