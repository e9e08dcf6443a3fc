// Order statistics and moments of a set of samples. Every function throws Error if there are no
// samples or one isn't finite: a NaN among times must never pass for a measurement.
#pragma once

#include <span>
#include <vector>

namespace assay::stats {

// The samples in ascending order.
std::vector<double> sorted(std::span<const double> samples);

// The value at `position` (0 is the smallest, size - 1 the largest) of ascending values, linear
// between neighbours; positions beyond the ends give the ends.
double at_position(std::span<const double> ascending, double position);

// The p quantile, 0 <= p <= 1, at position p (n - 1) (type 7 of Hyndman and Fan 1996).
double quantile(std::span<const double> samples, double p);
double median(std::span<const double> samples);
double iqr(std::span<const double> samples);  // the 0.75 quantile less the 0.25 quantile

double mean(std::span<const double> samples);
double stdev(std::span<const double> samples);  // with n - 1; 0 for a single sample

}  // namespace assay::stats
