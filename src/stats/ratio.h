// The ratio of two times with its 95 % interval: what a verdict is made from.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stats/interval.h"

namespace assay::stats {

struct Ratio {
    double value = 1.0;  // new time / old time: above 1 is slower
    Interval interval;   // 95 %
    bool trustworthy = false;
};

// Alternatives measured interleaved: new_times[i] and old_times[i] are of round i. The median of
// the rounds' ratios, with the interval of estimate_median: what both share in a round cancels.
// Throws Error if the numbers of rounds differ or are 0, or a time isn't positive and finite.
Ratio ratio_of_rounds(std::span<const double> old_times, std::span<const double> new_times);

// A round is often many calls, so that few make an interval; but fewer than these have none of 95 %
// between two of their values (interval.h), and nothing is told by them.
inline constexpr std::size_t kFewestRounds = 6;

// Until launches say otherwise, a launch's median is taken to differ from the next one's by 1 %
// (standard deviation), and that assumption weighs as much as three measured differences.
inline constexpr double kAssumedSpread = 0.01;
inline constexpr double kAssumedDegrees = 3.0;

// Runs measured one after the other, each of several launches: the estimate of one launch's samples
// each. `history` holds the launch medians of earlier runs of the same case, a vector each; only
// their spread is used. Throws Error if either run has no launch or a median isn't positive and
// finite.
//
// With y the logarithm of a launch's median, the ratio is exp(mean y_new - mean y_old). A launch
// differs from the next by more than its samples tell (placement, clocks), so the spread comes from
// whole launches, pooled over both runs and the history:
//     s^2 = (d0 s0^2 + sum over runs of sum (y - mean of the run)^2) / (d0 + d),
// d = launches - runs counted so, s0 and d0 the assumption above. The logarithm's half-width is
//     t(d0 + d) s sqrt(1 / n_old + 1 / n_new),
// t being Student's 97.5 % quantile; it is never below what the samples inside the launches tell,
//     sqrt(sum over launches of (h / n)^2),
// h being a launch's relative half-width and n its run's launches. With one launch each and no
// history it is 4.5 %.
//
// The rule takes launches as independent: where nights differ by more than launches do, the
// interval is too narrow by that much and the verdict's margin has to carry it.
//
// trustworthy: d >= kAssumedDegrees, so that measured spread outweighs the assumed one.
Ratio ratio_of_launches(std::span<const MedianEstimate> old_launches,
                        std::span<const MedianEstimate> new_launches,
                        std::span<const std::vector<double>> history = {});

}  // namespace assay::stats
