#include "stats/steadiness.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "stats/simulated.h"

namespace assay::stats {
namespace {

std::vector<double> drifting(std::uint64_t seed, std::size_t n, double drift, double noise = 0.01) {
    auto samples = normal_samples(seed, n, 0.0, noise);
    for (std::size_t i = 0; i < n; ++i) {
        samples[i] += drift * static_cast<double>(i) / static_cast<double>(n - 1);
    }
    return samples;
}

TEST(Steadiness, MeasuresADriftWithItsSign) {
    const auto up = steadiness(drifting(1, 1000, 0.03));
    EXPECT_FALSE(up.steady);
    EXPECT_TRUE(up.enough);
    EXPECT_NEAR(up.drift, 0.03, 0.005);
    const auto down = steadiness(drifting(1, 1000, -0.03));
    EXPECT_FALSE(down.steady);
    EXPECT_NEAR(down.drift, -0.03, 0.005);
}

TEST(Steadiness, ADriftMuchLargerThanTheNoiseKeepsItsSize) {
    const auto result = steadiness(drifting(2, 500, 0.10, 1e-4));
    EXPECT_FALSE(result.steady);
    EXPECT_NEAR(result.drift, 0.10 / 1.05, 0.005);
}

std::vector<double> stepping_at(std::size_t at) {
    auto samples = normal_samples(3, 1000, 0.0, 1e-3);
    for (std::size_t i = at; i < samples.size(); ++i) samples[i] += 0.1;
    return samples;
}

TEST(Steadiness, AStepInTheMiddleIsADrift) {
    const auto result = steadiness(stepping_at(500));
    EXPECT_FALSE(result.steady);
    EXPECT_GT(result.drift, 0.1);
}

TEST(Steadiness, AStepNearTheEndIsNeverCalledSteady) {
    for (std::size_t at = 300; at < 950; at += 50) {
        const auto result = steadiness(stepping_at(at));
        EXPECT_FALSE(result.steady && result.enough) << at;
        EXPECT_GT(result.drift, 0.02) << at;
    }
}

TEST(Steadiness, ThroughInterruptionsADriftIsStillFound) {
    auto samples = drifting(4, 1000, 0.01);
    for (std::size_t i = 13; i < samples.size(); i += 50) samples[i] *= 10.0;
    const auto result = steadiness(samples);
    EXPECT_FALSE(result.steady);
    EXPECT_NEAR(result.drift, 0.01, 0.005);
}

TEST(Steadiness, ALateInterruptionIsNoDrift) {
    auto samples = normal_samples(5, 1000);
    const auto before = steadiness(samples);
    for (std::size_t i = 980; i < 990; ++i) samples[i] *= 10.0;
    const auto after = steadiness(samples);
    EXPECT_TRUE(before.steady);
    EXPECT_TRUE(after.steady);
    EXPECT_NEAR(after.drift, before.drift, 0.002);
}

TEST(Steadiness, EqualSamplesAreSteady) {
    const auto result = steadiness(std::vector<double>(200, 0.1));
    EXPECT_TRUE(result.steady);
    EXPECT_TRUE(result.enough);
    EXPECT_EQ(result.drift, 0.0);
}

TEST(Steadiness, FewOrDependentSamplesAreNotEnough) {
    EXPECT_FALSE(steadiness(std::vector{1.0}).enough);
    EXPECT_FALSE(steadiness(std::vector{1.0, 2.0}).enough);
    EXPECT_FALSE(steadiness(normal_samples(6, 60)).enough);
    EXPECT_FALSE(steadiness(normal_samples(7, 300, 0.9)).enough);
    EXPECT_TRUE(steadiness(normal_samples(8, 300)).enough);
}

TEST(Steadiness, DoesNotDependOnTheUnitAndReversesWithTime) {
    auto samples = drifting(9, 800, 0.005);
    const auto seconds = steadiness(samples);
    for (double& x : samples) x *= 1e-6;
    const auto scaled = steadiness(samples);
    EXPECT_NEAR(scaled.drift, seconds.drift, 1e-9);
    EXPECT_NEAR(scaled.statistic, seconds.statistic, 1e-6);
    std::ranges::reverse(samples);
    EXPECT_NEAR(steadiness(samples).statistic, -seconds.statistic, 0.05);
}

TEST(Steadiness, RefusesNothingAndNotANumber) {
    EXPECT_THROW(steadiness({}), Error);
    EXPECT_THROW(steadiness(std::vector{1.0, std::nan(""), 1.0}), Error);
}

}  // namespace
}  // namespace assay::stats
