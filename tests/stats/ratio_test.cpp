#include "stats/ratio.h"

#include <cmath>
#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "stats/simulated.h"
#include "stats/verdict.h"

namespace assay::stats {
namespace {

// Launches whose samples tell their medians exactly, unless a relative half-width is given.
std::vector<MedianEstimate> launches(std::initializer_list<double> medians, double half = 0.0) {
    std::vector<MedianEstimate> result;
    for (const double m : medians) {
        result.push_back({m, {m * (1.0 - half), m * (1.0 + half)}, 1000, 1000.0, true});
    }
    return result;
}

double half_width(const Ratio& ratio) {
    return std::log(ratio.interval.hi / ratio.interval.lo) / 2.0;
}

TEST(RatioOfRounds, CancelsWhatBothSidesOfARoundShare) {
    const auto shared = normal_samples(1, 500, 0.99, 0.2);
    const auto own = normal_samples(2, 500, 0.0, 0.001);
    std::vector<double> old_times;
    std::vector<double> new_times;
    for (std::size_t i = 0; i < shared.size(); ++i) {
        old_times.push_back(std::abs(shared[i]) + 0.1);
        new_times.push_back(1.05 * old_times.back() * own[i]);
    }
    const auto ratio = ratio_of_rounds(old_times, new_times);
    EXPECT_NEAR(ratio.value, 1.05, 0.0005);
    EXPECT_LT(half_width(ratio), 0.0005);
    EXPECT_TRUE(ratio.trustworthy);
    EXPECT_EQ(verdict(ratio.interval), Verdict::Slower);
    EXPECT_EQ(verdict(ratio_of_rounds(new_times, old_times).interval), Verdict::Faster);
}

TEST(RatioOfRounds, OfFewRoundsIsNotTrusted) {
    EXPECT_FALSE(ratio_of_rounds(normal_samples(3, 20), normal_samples(4, 20)).trustworthy);
}

TEST(RatioOfRounds, RefusesUnequalRoundsAndTimesThatAreNone) {
    const std::vector<double> two{1.0, 1.0};
    EXPECT_THROW(ratio_of_rounds(two, std::vector{1.0}), Error);
    EXPECT_THROW(ratio_of_rounds({}, {}), Error);
    EXPECT_THROW(ratio_of_rounds(two, std::vector{1.0, 0.0}), Error);
    EXPECT_THROW(ratio_of_rounds(std::vector{-1.0, 1.0}, two), Error);
    EXPECT_THROW(ratio_of_rounds(two, std::vector{1.0, std::nan("")}), Error);
}

// Written out by hand: both runs have the squares 2 (0.01)^2 with 2 degrees of freedom each, so
// that s^2 = (3 (0.01)^2 + 4 (0.01)^2) / 7 and t(7) = 2.3646.
TEST(RatioOfLaunches, IsThePooledInterval) {
    const double e = std::exp(0.01);
    const auto ratio =
        ratio_of_launches(launches({1.0 / e, 1.0, e}), launches({2.0 / e, 2.0, 2.0 * e}));
    EXPECT_NEAR(ratio.value, 2.0, 1e-12);
    EXPECT_NEAR(half_width(ratio), 2.3646 * 0.01 * std::sqrt(2.0 / 3.0), 1e-5);
    EXPECT_TRUE(ratio.trustworthy);
}

TEST(RatioOfLaunches, OfSingleLaunchesRestsOnTheAssumedSpreadAndIsNotTrusted) {
    const auto ratio = ratio_of_launches(launches({1.0}), launches({1.03}));
    EXPECT_NEAR(half_width(ratio), 0.045, 0.0005);
    EXPECT_FALSE(ratio.trustworthy);
    EXPECT_EQ(verdict(ratio.interval), Verdict::Ambiguous);
    EXPECT_EQ(verdict(ratio_of_launches(launches({1.0}), launches({1.10})).interval),
              Verdict::Slower);
}

TEST(RatioOfLaunches, HistoryReplacesTheAssumedSpread) {
    const auto before = ratio_of_launches(launches({1.0}), launches({1.03}));
    const std::vector<std::vector<double>> quiet(20, {0.999, 1.000, 1.001, 1.000});
    const auto after = ratio_of_launches(launches({1.0}), launches({1.03}), quiet);
    EXPECT_LT(half_width(after), 0.15 * half_width(before));
    EXPECT_TRUE(after.trustworthy);
    const std::vector<std::vector<double>> noisy(20, {0.9, 1.0, 1.1, 1.0});
    EXPECT_GT(half_width(ratio_of_launches(launches({1.0}), launches({1.03}), noisy)),
              2.0 * half_width(before));
}

TEST(RatioOfLaunches, OnlyTheSpreadOfHistoryCounts) {
    const std::vector<std::vector<double>> near{{0.99, 1.01, 1.0}, {0.98, 1.0}};
    std::vector<std::vector<double>> far = near;
    for (auto& run : far) {
        for (double& median : run) median *= 64.0;
    }
    const auto a = ratio_of_launches(launches({1.0, 1.01}), launches({1.03}), near);
    const auto b = ratio_of_launches(launches({1.0, 1.01}), launches({1.03}), far);
    EXPECT_DOUBLE_EQ(a.value, b.value);
    EXPECT_NEAR(half_width(a), half_width(b), 1e-12);
}

TEST(RatioOfLaunches, MoreLaunchesNarrowIt) {
    const auto four = launches({0.99, 1.01, 0.99, 1.01});
    const auto eight = launches({0.99, 1.01, 0.99, 1.01, 0.99, 1.01, 0.99, 1.01});
    EXPECT_LT(half_width(ratio_of_launches(eight, eight)),
              half_width(ratio_of_launches(four, four)));
}

TEST(RatioOfLaunches, IsNeverNarrowerThanWhatTheSamplesInsideTell) {
    const auto ratio =
        ratio_of_launches(launches({1.0, 1.0, 1.0, 1.0}, 0.1), launches({1.0, 1.0, 1.0, 1.0}, 0.1));
    EXPECT_NEAR(half_width(ratio), 0.1 * std::sqrt(2.0 / 4.0), 1e-9);
}

TEST(RatioOfLaunches, ExchangingOldAndNewInvertsIt) {
    const auto a = launches({1.0, 1.02, 0.99});
    const auto b = launches({1.1, 1.12});
    const auto forward = ratio_of_launches(a, b);
    const auto backward = ratio_of_launches(b, a);
    EXPECT_NEAR(forward.value * backward.value, 1.0, 1e-12);
    EXPECT_NEAR(forward.interval.lo * backward.interval.hi, 1.0, 1e-12);
    EXPECT_NEAR(forward.interval.hi * backward.interval.lo, 1.0, 1e-12);
}

TEST(RatioOfLaunches, RefusesNoLaunchAndTimesThatAreNone) {
    EXPECT_THROW(ratio_of_launches({}, launches({1.0})), Error);
    EXPECT_THROW(ratio_of_launches(launches({1.0}), {}), Error);
    EXPECT_THROW(ratio_of_launches(launches({0.0}), launches({1.0})), Error);
    const std::vector<std::vector<double>> history{{1.0, -1.0}};
    EXPECT_THROW(ratio_of_launches(launches({1.0}), launches({1.0}), history), Error);
}

}  // namespace
}  // namespace assay::stats
