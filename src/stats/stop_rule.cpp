#include "stats/stop_rule.h"

#include <algorithm>

namespace assay::stats {

std::string_view name(StopReason reason) {
    switch (reason) {
        case StopReason::Precise:
            return "precise";
        case StopReason::SampleLimit:
            return "sample limit";
        case StopReason::TimeLimit:
            return "time limit";
        case StopReason::Interrupted:
            return "interrupted";
    }
    return "unknown";
}

StopRule::StopRule(double target_half_width, std::size_t min_samples, double min_effective,
                   std::size_t max_samples)
    : target_half_width_(target_half_width),
      min_effective_(min_effective),
      max_samples_(max_samples),
      next_look_(std::min(min_samples, max_samples)) {}

Decision StopRule::look(std::span<const double> samples) {
    Decision decision{std::nullopt, estimate_median(samples)};
    const auto& estimate = decision.estimate;
    if (estimate.relative_half_width() <= target_half_width_ &&
        estimate.effective_n >= min_effective_) {
        decision.stop = StopReason::Precise;
    } else if (samples.size() >= max_samples_) {
        decision.stop = StopReason::SampleLimit;
    }
    const std::size_t grown_by_half = samples.size() + (samples.size() + 1) / 2;
    next_look_ = std::min(grown_by_half, max_samples_);
    return decision;
}

}  // namespace assay::stats
