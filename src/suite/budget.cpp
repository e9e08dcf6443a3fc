#include "suite/budget.h"

#include <algorithm>
#include <numeric>

namespace assay::suite {

Budget::Budget(double total_s, double limit_s, std::vector<double> weights)
    : total_s_(total_s), limit_s_(limit_s), weights_(std::move(weights)) {}

double Budget::share(std::size_t index, double elapsed_s) const {
    if (total_s_ <= 0) return limit_s_;
    const auto rest = weights_.begin() + static_cast<std::ptrdiff_t>(index);
    const double weight = std::accumulate(rest, weights_.end(), 0.0);
    const double overhead = cases_ == 0 ? 0 : overhead_s_ / static_cast<double>(cases_);
    const double left = std::max(0.0, total_s_ - elapsed_s);
    return std::clamp(left * *rest / weight - overhead, kLeast, std::max(kLeast, limit_s_));
}

void Budget::spent(double wall_s, double sampled_s) {
    overhead_s_ += std::max(0.0, wall_s - sampled_s);
    ++cases_;
}

}  // namespace assay::suite
