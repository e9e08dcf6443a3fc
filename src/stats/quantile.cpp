#include "stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

#include "base/error.h"

namespace assay::stats {
namespace {

void require_finite(std::span<const double> samples) {
    if (samples.empty()) throw Error("no samples", "a statistic needs at least one sample");
    const auto bad = std::ranges::find_if(samples, [](double x) { return !std::isfinite(x); });
    if (bad != samples.end()) {
        throw Error(
            "sample " + std::to_string(bad - samples.begin()) + " is " + std::to_string(*bad),
            "measure it again, or leave it out and say so");
    }
}

}  // namespace

std::vector<double> sorted(std::span<const double> samples) {
    require_finite(samples);
    std::vector<double> ascending(samples.begin(), samples.end());
    std::ranges::sort(ascending);
    return ascending;
}

double at_position(std::span<const double> ascending, double position) {
    const double last = static_cast<double>(ascending.size() - 1);
    const double inside = std::clamp(position, 0.0, last);
    const auto below = static_cast<std::size_t>(inside);
    const auto above = std::min(below + 1, ascending.size() - 1);
    // std::lerp gives exactly the end values, and a constant for equal neighbours.
    return std::lerp(ascending[below], ascending[above], inside - static_cast<double>(below));
}

double quantile(std::span<const double> samples, double p) {
    const auto ascending = sorted(samples);
    return at_position(ascending, p * static_cast<double>(ascending.size() - 1));
}

double median(std::span<const double> samples) {
    return quantile(samples, 0.5);
}

double iqr(std::span<const double> samples) {
    const auto ascending = sorted(samples);
    const double last = static_cast<double>(ascending.size() - 1);
    return at_position(ascending, 0.75 * last) - at_position(ascending, 0.25 * last);
}

double mean(std::span<const double> samples) {
    require_finite(samples);
    return std::accumulate(samples.begin(), samples.end(), 0.0) /
           static_cast<double>(samples.size());
}

double stdev(std::span<const double> samples) {
    const double centre = mean(samples);
    if (samples.size() < 2) return 0.0;
    double squares = 0.0;
    for (const double x : samples) squares += (x - centre) * (x - centre);
    return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

}  // namespace assay::stats
