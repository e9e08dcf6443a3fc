// Whether a series of samples drifts.
#pragma once

#include <span>

namespace assay::stats {

struct Steadiness {
    bool steady = true;      // |statistic| is within kDriftCritical
    double drift = 0.0;      // change from the first sample to the last, as a part of the median
    double statistic = 0.0;  // the fitted slope over its standard error
    bool enough = false;     // kTrustedEffective effective samples: an absent drift means something
};

// With 1 % noise, a drift of 1 % is found in 99.6 / 99.9 / 96.4 % of series of 300 / 1,000 / 3,000
// samples (independent / AR(1) 0.5 / 0.9), with false alarms in 2.5 / 5.1 / 7.1 %
// (tests/stats/simulation_test.cpp). At n = 100 it is found in 69 %: hence `enough`.
inline constexpr double kDriftCritical = 2.2;

// Fits a line to the samples, in the order they were taken, by least squares. The slope's standard
// error is that of independent samples times the square root of the autocorrelation time of the
// residuals' sign series. Throws Error if there are no samples or one isn't finite.
//
// The samples are first clamped to their own 5 % and 95 % quantiles, so that a few interruptions
// can neither pass for a drift nor hide one; a step that lasts for a twentieth of the series or
// more still counts. Levels that last make samples hang together, so a step that no line fits shows
// as too few effective samples (`enough` is false) rather than as a slope. A drift smaller than the
// noise reads up to a tenth too small for it.
//
// Steady is a series that is `steady` and has `enough`. Not steady says that a drift is there, not
// that it matters: among 12,000 samples with 1 % noise one of 0.15 % is found. The caller weighs
// `drift` against the smallest one of interest.
Steadiness steadiness(std::span<const double> samples);

}  // namespace assay::stats
