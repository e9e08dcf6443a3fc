#include "stats/steadiness.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "stats/autocorrelation.h"
#include "stats/interval.h"
#include "stats/quantile.h"
#include "stats/sign.h"

namespace assay::stats {

Steadiness steadiness(std::span<const double> samples) {
    const auto ascending = sorted(samples);
    const double n = static_cast<double>(samples.size());
    const double lo = at_position(ascending, 0.05 * (n - 1.0));
    const double hi = at_position(ascending, 0.95 * (n - 1.0));
    const double centre = at_position(ascending, 0.5 * (n - 1.0));

    Steadiness result;
    if (samples.size() < 3 || lo == hi) {
        result.enough = n >= kTrustedEffective;
        return result;
    }

    std::vector<double> values(samples.begin(), samples.end());
    for (double& x : values) x = std::clamp(x, lo, hi);
    const double level = std::accumulate(values.begin(), values.end(), 0.0) / n;
    const double middle = (n - 1.0) / 2.0;
    const auto offset = [&](std::size_t i) { return static_cast<double>(i) - middle; };

    double covariance = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) covariance += offset(i) * (values[i] - level);
    const double spread = n * (n * n - 1.0) / 12.0;  // the sum of offset^2
    const double slope = covariance / spread;

    double squares = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] -= level + slope * offset(i);
        squares += values[i] * values[i];
    }
    const double time = autocorrelation_time(signs(values, 0.0));
    const double error = std::sqrt(squares / (n - 2.0) / spread * time);

    result.drift = slope * (n - 1.0) / centre;
    result.statistic = slope / error;
    result.steady = std::abs(result.statistic) <= kDriftCritical;
    result.enough = n / time >= kTrustedEffective;
    return result;
}

}  // namespace assay::stats
