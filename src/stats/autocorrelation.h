// How many successive samples it takes to learn what one independent sample tells.
#pragma once

#include <span>

namespace assay::stats {

// The integrated autocorrelation time: 1 + 2 x the sum of the autocorrelations, so that n samples
// tell as much about their mean as n / time independent ones. Between 1 and n; 1 for a constant
// series.
//
// The sum ends by Geyer's initial monotone sequence (Practical Markov chain Monte Carlo, 1992,
// section 3.3): autocorrelations are added in pairs (lags 0 and 1, 2 and 3, ...) while a pair's sum
// is positive, no pair counting for more than the one before it. Subtracting the series' own mean
// makes every autocorrelation too small, which Wolff's factor 1 + (2 W + 1) / n undoes, W being the
// last lag added (Monte Carlo errors with less errors, 2004, eq. 49).
//
// An alternating series could claim a time below 1; it is cut off there, since a pattern that
// happens to repeat isn't evidence. The sum also ends once fewer than four effective samples are
// left: how many fewer is of no use, and a ramp would cost O(n^2) to tell. Cost: O(n x time).
double autocorrelation_time(std::span<const double> series);

}  // namespace assay::stats
