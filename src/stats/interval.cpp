#include "stats/interval.h"

#include <cmath>
#include <limits>
#include <vector>

#include "stats/autocorrelation.h"
#include "stats/critical.h"
#include "stats/quantile.h"
#include "stats/sign.h"

namespace assay::stats {

double MedianEstimate::relative_half_width() const {
    const double half = (interval.hi - interval.lo) / 2.0;
    if (half == 0.0) return 0.0;
    return median == 0.0 ? std::numeric_limits<double>::infinity() : half / std::abs(median);
}

MedianEstimate estimate_median(std::span<const double> samples) {
    const auto ascending = sorted(samples);
    const double n = static_cast<double>(samples.size());
    const double middle = (n - 1.0) / 2.0;

    MedianEstimate estimate;
    estimate.median = at_position(ascending, middle);
    const double time = autocorrelation_time(signs(samples, estimate.median));
    const double reach = kNormalCritical95 / 2.0 * std::sqrt(n * time);
    estimate.interval = {at_position(ascending, middle - reach),
                         at_position(ascending, middle + reach)};
    estimate.n = samples.size();
    estimate.effective_n = n / time;
    estimate.trustworthy = estimate.effective_n >= kTrustedEffective;
    return estimate;
}

}  // namespace assay::stats
