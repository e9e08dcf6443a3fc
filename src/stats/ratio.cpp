#include "stats/ratio.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "base/error.h"
#include "stats/critical.h"
#include "stats/quantile.h"

namespace assay::stats {
namespace {

void require_time(double time) {
    if (std::isfinite(time) && time > 0.0) return;
    throw Error("a time of " + std::to_string(time) + " s has no ratio",
                "compare only results whose times are above 0");
}

double log_time(double time) {
    require_time(time);
    return std::log(time);
}

std::vector<double> log_medians(std::span<const MedianEstimate> launches) {
    std::vector<double> logs;
    for (const auto& launch : launches) logs.push_back(log_time(launch.median));
    return logs;
}

// Squared deviations from a run's own mean, and how many of them are free.
struct Spread {
    double squares = 0.0;
    double degrees = 0.0;

    void add(std::span<const double> logs) {
        if (logs.size() < 2) return;
        const double centre = mean(logs);
        for (const double y : logs) squares += (y - centre) * (y - centre);
        degrees += static_cast<double>(logs.size() - 1);
    }
};

// The square of the 95 % half-width of a run's mean logarithm, as its launches' samples tell it.
double squared_half_width_within(std::span<const MedianEstimate> launches) {
    double sum = 0.0;
    for (const auto& launch : launches) sum += std::pow(launch.relative_half_width(), 2);
    const double n = static_cast<double>(launches.size());
    return sum / (n * n);
}

}  // namespace

Ratio ratio_of_rounds(std::span<const double> old_times, std::span<const double> new_times) {
    if (old_times.size() != new_times.size()) {
        throw Error("rounds of " + std::to_string(old_times.size()) + " old and " +
                        std::to_string(new_times.size()) + " new times",
                    "an interleaved comparison needs one of each in every round");
    }
    std::ranges::for_each(old_times, require_time);
    std::ranges::for_each(new_times, require_time);
    std::vector<double> ratios(old_times.size());
    std::ranges::transform(new_times, old_times, ratios.begin(), std::divides{});
    const auto estimate = estimate_median(ratios);
    return {estimate.median, estimate.interval, estimate.trustworthy};
}

Ratio ratio_of_launches(std::span<const MedianEstimate> old_launches,
                        std::span<const MedianEstimate> new_launches,
                        std::span<const std::vector<double>> history) {
    const auto old_logs = log_medians(old_launches);
    const auto new_logs = log_medians(new_launches);
    const double difference = mean(new_logs) - mean(old_logs);

    Spread measured;
    measured.add(old_logs);
    measured.add(new_logs);
    for (const auto& run : history) {
        std::vector<double> logs(run.size());
        std::ranges::transform(run, logs.begin(), log_time);
        measured.add(logs);
    }
    const double degrees = kAssumedDegrees + measured.degrees;
    const double variance =
        (kAssumedDegrees * kAssumedSpread * kAssumedSpread + measured.squares) / degrees;
    const double launches =
        1.0 / static_cast<double>(old_logs.size()) + 1.0 / static_cast<double>(new_logs.size());
    const double between = student_critical_95(degrees) * std::sqrt(variance * launches);
    const double within = std::sqrt(squared_half_width_within(old_launches) +
                                    squared_half_width_within(new_launches));
    const double half_width = std::max(between, within);

    return {std::exp(difference),
            {std::exp(difference - half_width), std::exp(difference + half_width)},
            measured.degrees >= kAssumedDegrees};
}

}  // namespace assay::stats
