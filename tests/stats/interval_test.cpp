#include "stats/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "stats/simulated.h"

namespace assay::stats {
namespace {

TEST(EstimateMedian, OfFewSamplesReachesFromSmallestToLargestAndIsNotTrusted) {
    for (std::size_t n = 1; n < 6; ++n) {
        const auto samples = normal_samples(n, n);
        const auto estimate = estimate_median(samples);
        EXPECT_EQ(estimate.interval.lo, std::ranges::min(samples));
        EXPECT_EQ(estimate.interval.hi, std::ranges::max(samples));
        EXPECT_EQ(estimate.n, n);
        EXPECT_FALSE(estimate.trustworthy);
    }
}

TEST(EstimateMedian, OfEqualSamplesHasNoWidthAndCountsThemAll) {
    const auto estimate = estimate_median(std::vector<double>(150, 2e-3));
    EXPECT_EQ(estimate.median, 2e-3);
    EXPECT_EQ(estimate.interval.lo, 2e-3);
    EXPECT_EQ(estimate.interval.hi, 2e-3);
    EXPECT_EQ(estimate.effective_n, 150.0);
    EXPECT_TRUE(estimate.trustworthy);
}

// 1 to 100 in random order: independent, so that the interval lies at 50.5 -+ 9.8 or a little
// wider.
TEST(EstimateMedian, LiesAtTheBinomialRanks) {
    std::vector<double> samples(100);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<double>(i + 1);
    std::mt19937_64 engine(5);
    std::ranges::shuffle(samples, engine);
    const auto estimate = estimate_median(samples);
    EXPECT_EQ(estimate.median, 50.5);
    EXPECT_NEAR(estimate.interval.hi - 50.5, 9.8 * std::sqrt(100.0 / estimate.effective_n), 1e-3);
    EXPECT_NEAR(50.5 - estimate.interval.lo, estimate.interval.hi - 50.5, 1e-9);
    EXPECT_GT(estimate.effective_n, 70.0);
}

TEST(EstimateMedian, WidensWhereSamplesHangTogether) {
    auto samples = normal_samples(7, 3000, 0.9);
    const auto together = estimate_median(samples);
    std::mt19937_64 engine(8);
    std::ranges::shuffle(samples, engine);
    const auto shuffled = estimate_median(samples);
    EXPECT_EQ(together.median, shuffled.median);
    EXPECT_LT(together.effective_n, 0.2 * shuffled.effective_n);
    EXPECT_GT(together.relative_half_width(), 2.0 * shuffled.relative_half_width());
}

TEST(EstimateMedian, IgnoresHowFarOutliersLie) {
    auto samples = normal_samples(9, 1000);
    const auto before = estimate_median(samples);
    for (double& x : samples) {
        if (x > before.interval.hi + 0.001) x *= 50.0;  // but not the ends' own neighbours
    }
    const auto after = estimate_median(samples);
    EXPECT_EQ(after.median, before.median);
    EXPECT_EQ(after.interval.lo, before.interval.lo);
    EXPECT_EQ(after.interval.hi, before.interval.hi);
}

TEST(EstimateMedian, ScalesWithTheUnit) {
    auto samples = normal_samples(10, 777, 0.6);
    const auto seconds = estimate_median(samples);
    for (double& x : samples) x *= 1024.0;  // exact in binary
    const auto scaled = estimate_median(samples);
    EXPECT_EQ(scaled.median, 1024.0 * seconds.median);
    EXPECT_EQ(scaled.interval.lo, 1024.0 * seconds.interval.lo);
    EXPECT_EQ(scaled.interval.hi, 1024.0 * seconds.interval.hi);
    EXPECT_EQ(scaled.effective_n, seconds.effective_n);
    EXPECT_EQ(scaled.relative_half_width(), seconds.relative_half_width());
}

TEST(EstimateMedian, AlwaysEnclosesItsMedianAndNeverCountsMoreThanThereIs) {
    for (std::size_t n = 1; n < 400; n += 7) {
        const auto estimate = estimate_median(normal_samples(n, n, n % 3 == 0 ? 0.7 : -0.7));
        EXPECT_LE(estimate.interval.lo, estimate.median);
        EXPECT_GE(estimate.interval.hi, estimate.median);
        EXPECT_GE(estimate.effective_n, 1.0);
        EXPECT_LE(estimate.effective_n, static_cast<double>(n));
    }
}

TEST(EstimateMedian, OfACoarseTimerGivesWholeTicks) {
    auto samples = normal_samples(11, 2000);
    for (double& x : samples) x = std::round(x / 0.03) * 0.03;  // nearly all are 0.99
    const auto estimate = estimate_median(samples);
    EXPECT_EQ(estimate.interval.lo, estimate.median);
    EXPECT_EQ(estimate.interval.hi, estimate.median);
    EXPECT_TRUE(estimate.trustworthy);
}

TEST(EstimateMedian, OfADriftIsNotTrusted) {
    std::vector<double> ramp;
    for (int i = 0; i < 2000; ++i) ramp.push_back(1.0 + 1e-5 * i);
    EXPECT_FALSE(estimate_median(ramp).trustworthy);
}

TEST(EstimateMedian, RelativeHalfWidthOfAMedianOfZero) {
    EXPECT_EQ(estimate_median(std::vector<double>(9, 0.0)).relative_half_width(), 0.0);
    EXPECT_TRUE(std::isinf(estimate_median(std::vector{-1.0, 0.0, 1.0}).relative_half_width()));
}

TEST(EstimateMedian, RefusesNothingAndNotANumber) {
    EXPECT_THROW(estimate_median({}), Error);
    EXPECT_THROW(estimate_median(std::vector{1.0, std::numeric_limits<double>::quiet_NaN()}),
                 Error);
}

}  // namespace
}  // namespace assay::stats
