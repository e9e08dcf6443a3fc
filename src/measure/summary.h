// From raw samples to metrics.
#pragma once

#include <span>
#include <string>

#include "record/metric.h"
#include "record/result.h"

namespace assay::measure {

// A drift below this, from the first sample to the last, doesn't matter: it is no more than the
// half-width at which sampling stops.
inline constexpr double kDriftOfInterest = 0.005;

// The time of one call, in s, from the launches' samples "time".
//
// One launch: the median, and its 95 % interval by order statistics (stats/interval.h).
// Several: the geometric mean of the launches' medians. A launch differs from the next by more than
// its samples tell, so the interval comes from the spread of the medians, by the rule that
// comparisons use too (stats/ratio.h): with y their logarithms, s^2 = (d0 s0^2 + sum (y - mean)^2)
// / (d0 + launches - 1), half-width of the logarithm t(d0 + launches - 1) s / sqrt(launches), and
// never less than what the samples inside the launches tell.
//
// n and effective_n are sums over the launches; steady: no launch drifts by kDriftOfInterest or
// more, unset where there are too few samples to tell. Without samples the value is NaN;
// so it is where one of several launches has a median of 0.
record::Metric time_metric(std::string name, std::string definition,
                           std::span<const record::Launch> launches);

// Work over time: `work_per_call`, in the unit's numerator (FLOP / 1e12 for TFLOP/s), over
// time_metric()'s value; the interval's ends likewise, NaN where the time is 0.
record::Metric rate_metric(std::string name, std::string unit, std::string definition,
                           double work_per_call, std::span<const record::Launch> launches);

}  // namespace assay::measure
