#include "stats/autocorrelation.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "stats/simulated.h"

namespace assay::stats {
namespace {

TEST(AutocorrelationTime, OfIndependentSamplesIsOne) {
    EXPECT_NEAR(autocorrelation_time(normal_samples(1, 12'000)), 1.0, 0.1);
}

// AR(1) has the autocorrelations rho^lag, hence the time (1 + rho) / (1 - rho).
TEST(AutocorrelationTime, OfAutoregressiveSamplesIsTheExactOne) {
    EXPECT_NEAR(autocorrelation_time(normal_samples(2, 100'000, 0.5)), 3.0, 0.3);
    EXPECT_NEAR(autocorrelation_time(normal_samples(3, 100'000, 0.9)), 19.0, 2.0);
}

TEST(AutocorrelationTime, OfAShortSeriesIsNotMuchTooSmallOnAverage) {
    double sum = 0.0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        sum += autocorrelation_time(normal_samples(seed, 400, 0.9));
    }
    EXPECT_NEAR(sum / 200, 19.0, 2.5);
}

TEST(AutocorrelationTime, OfAConstantSeriesIsOne) {
    EXPECT_EQ(autocorrelation_time(std::vector<double>(500, 0.1)), 1.0);
    EXPECT_EQ(autocorrelation_time(std::vector{0.1}), 1.0);
}

TEST(AutocorrelationTime, OfAnAlternatingSeriesIsOne) {
    std::vector<double> series;
    for (int i = 0; i < 1000; ++i) series.push_back(i % 2 == 0 ? 1.0 : 2.0);
    EXPECT_EQ(autocorrelation_time(series), 1.0);
}

TEST(AutocorrelationTime, OfARampLeavesAFewEffectiveSamples) {
    std::vector<double> ramp;
    for (int i = 0; i < 3000; ++i) ramp.push_back(i);
    const double time = autocorrelation_time(ramp);
    EXPECT_GT(time, 500.0);
    EXPECT_LE(time, 3000.0);
}

TEST(AutocorrelationTime, DoesNotDependOnScaleShiftOrDirection) {
    const auto series = normal_samples(4, 2000, 0.8);
    const double time = autocorrelation_time(series);
    auto changed = series;
    for (double& x : changed) x = -1e-6 * x + 3e-6;
    EXPECT_NEAR(autocorrelation_time(changed), time, 1e-6 * time);
    std::ranges::reverse(changed);
    EXPECT_NEAR(autocorrelation_time(changed), time, 1e-6 * time);
}

TEST(AutocorrelationTime, RefusesAnEmptySeries) {
    EXPECT_THROW(autocorrelation_time({}), Error);
}

}  // namespace
}  // namespace assay::stats
