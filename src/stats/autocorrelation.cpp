#include "stats/autocorrelation.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "stats/quantile.h"

namespace assay::stats {

namespace {
constexpr double kFewestTold = 4.0;
}

double autocorrelation_time(std::span<const double> series) {
    const double centre = mean(series);
    std::vector<double> centred(series.begin(), series.end());
    for (double& x : centred) x -= centre;

    // transform_reduce may reorder the sum, hence runs several times faster than inner_product.
    const auto covariance = [&](std::size_t lag) {
        const auto offset = static_cast<std::ptrdiff_t>(lag);
        return std::transform_reduce(centred.begin(), centred.end() - offset,
                                     centred.begin() + offset, 0.0);
    };
    const double variance = covariance(0);
    if (std::ranges::adjacent_find(series, std::not_equal_to{}) == series.end()) return 1.0;

    const double n = static_cast<double>(centred.size());
    double pairs = 0.0;
    double previous = std::numeric_limits<double>::infinity();
    std::size_t window = 0;
    for (std::size_t lag = 0; lag + 1 < centred.size(); lag += 2) {
        const double pair = std::min(previous, (covariance(lag) + covariance(lag + 1)) / variance);
        if (pair <= 0.0) break;
        pairs += pair;
        previous = pair;
        window = lag + 1;
        // A ramp's correlations go on over half of the series, at the cost of its square.
        if (2.0 * pairs > n / kFewestTold) break;
    }
    const double correction = 1.0 + (2.0 * static_cast<double>(window) + 1.0) / n;
    return std::clamp((2.0 * pairs - 1.0) * correction, 1.0, n);
}

}  // namespace assay::stats
