#include "measure/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "stats/critical.h"
#include "stats/interval.h"
#include "stats/quantile.h"
#include "stats/ratio.h"
#include "stats/steadiness.h"

namespace assay::measure {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Centre {
    double value;
    stats::Interval interval;
};

Centre centre_of(std::span<const stats::MedianEstimate> launches) {
    if (launches.size() == 1) return {launches[0].median, launches[0].interval};

    std::vector<double> logs;
    double within = 0;
    for (const auto& launch : launches) {
        if (launch.median <= 0) return {kNan, {kNan, kNan}};
        logs.push_back(std::log(launch.median));
        within += std::pow(launch.relative_half_width(), 2);
    }
    const double n = static_cast<double>(logs.size());
    const double mean = stats::mean(logs);
    double squares = stats::kAssumedDegrees * std::pow(stats::kAssumedSpread, 2);
    for (const double y : logs) squares += (y - mean) * (y - mean);
    const double degrees = stats::kAssumedDegrees + n - 1;
    const double between = stats::student_critical_95(degrees) * std::sqrt(squares / degrees / n);
    const double half_width = std::max(between, std::sqrt(within) / n);
    return {std::exp(mean), {std::exp(mean - half_width), std::exp(mean + half_width)}};
}

// Unset where a drift, or its absence, can't be told.
std::optional<bool> is_steady(std::span<const double> samples) {
    const auto found = stats::steadiness(samples);
    if (!found.steady && std::abs(found.drift) >= kDriftOfInterest) return false;
    return found.enough ? std::optional(true) : std::nullopt;
}

// One drifting launch is enough to say so; all must be known to be steady to say that.
std::optional<bool> both(std::optional<bool> a, std::optional<bool> b) {
    if (a == false || b == false) return false;
    return a && b ? a : std::nullopt;
}

}  // namespace

record::Metric time_metric(std::string name, std::string definition,
                           std::span<const record::Launch> launches) {
    record::Metric metric;
    metric.name = std::move(name);
    metric.unit = "s";
    metric.better = record::Better::lower;
    metric.definition = std::move(definition);
    metric.value = kNan;
    std::vector<stats::MedianEstimate> estimates;
    std::optional<bool> steady = true;
    double effective_n = 0;
    for (const auto& launch : launches) {
        const auto samples = launch.samples.find("time");
        if (samples == launch.samples.end() || samples->second.values.empty()) continue;
        const auto& seconds = samples->second.values;
        estimates.push_back(stats::estimate_median(seconds));
        steady = both(steady, is_steady(seconds));
        metric.n += seconds.size();
        effective_n += estimates.back().effective_n;
    }
    if (estimates.empty()) return metric;

    const Centre centre = centre_of(estimates);
    metric.value = centre.value;
    metric.interval = {centre.interval.lo, centre.interval.hi};
    metric.effective_n = effective_n;
    metric.steady = steady;
    metric.trustworthy = effective_n >= stats::kTrustedEffective;
    return metric;
}

record::Metric rate_metric(std::string name, std::string unit, std::string definition,
                           double work_per_call, std::span<const record::Launch> launches) {
    record::Metric metric = time_metric(std::move(name), std::move(definition), launches);
    metric.unit = std::move(unit);
    metric.better = record::Better::higher;
    const auto rate = [&](double seconds) { return seconds > 0 ? work_per_call / seconds : kNan; };
    metric.value = rate(metric.value);
    if (metric.interval) {
        metric.interval = {rate(metric.interval->second), rate(metric.interval->first)};
    }
    return metric;
}

}  // namespace assay::measure
