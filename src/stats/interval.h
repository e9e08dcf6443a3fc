// The centre of a set of samples, and how well it is known.
#pragma once

#include <cstddef>
#include <span>

namespace assay::stats {

struct Interval {
    double lo = 0.0;
    double hi = 0.0;
};

// Fewer effective samples than this make an interval too narrow too often to be believed.
inline constexpr double kTrustedEffective = 100.0;

struct MedianEstimate {
    double median = 0.0;
    Interval interval;         // 95 %, in the samples' unit
    std::size_t n = 0;         // samples
    double effective_n = 0.0;  // independent samples that would tell as much, 1 to n
    bool trustworthy = false;  // effective_n >= kTrustedEffective

    // Half the interval's width over the median: 0 where both are 0.
    double relative_half_width() const;
};

// The median of samples in the order they were taken, and its 95 % interval between two order
// statistics. Throws Error if there are no samples or one isn't finite.
//
// How many of n independent samples lie below the true median is binomial(n, 1/2), so that the
// samples at positions (n - 1) / 2 -+ 1.96 sqrt(n) / 2 enclose it in 95 % of cases, whatever the
// distribution. Real samples follow each other, and the count then spreads as that of n / T samples
// does, T being the autocorrelation time of the sign series, sign(x - median): sqrt(n) becomes
// sqrt(n T). Positions between two samples are interpolated; beyond the ends (n < 6) the interval
// is [smallest, largest]. Samples equal to the median have sign 0, so a coarse timer's ties take
// part and equal samples give an interval of no width.
MedianEstimate estimate_median(std::span<const double> samples);

}  // namespace assay::stats
