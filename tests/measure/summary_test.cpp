#include "measure/summary.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "stats/interval.h"

namespace assay::measure {
namespace {

record::Launch launch_of(std::vector<double> seconds) {
    record::Launch launch;
    launch.samples["time"] = {"s", std::move(seconds)};
    return launch;
}

std::vector<double> noise(double seconds, std::size_t n, unsigned seed, double drift = 0) {
    std::mt19937_64 random(seed);
    std::normal_distribution<> normal;
    std::vector<double> samples(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double along = static_cast<double>(i) / static_cast<double>(n);
        samples[i] = seconds * (1 + 0.01 * normal(random) + drift * along);
    }
    return samples;
}

TEST(Summary, OneLaunchIsItsMedianWithTheIntervalOfItsSamples) {
    const auto samples = noise(2e-3, 400, 1);
    const auto expected = stats::estimate_median(samples);
    const std::vector launches{launch_of(samples)};
    const auto metric = time_metric("time", "one call", launches);
    EXPECT_EQ(metric.name, "time");
    EXPECT_EQ(metric.unit, "s");
    EXPECT_EQ(metric.better, record::Better::lower);
    EXPECT_EQ(metric.definition, "one call");
    EXPECT_DOUBLE_EQ(metric.value, expected.median);
    EXPECT_DOUBLE_EQ(metric.interval->first, expected.interval.lo);
    EXPECT_DOUBLE_EQ(metric.interval->second, expected.interval.hi);
    EXPECT_EQ(metric.n, 400u);
    EXPECT_DOUBLE_EQ(*metric.effective_n, expected.effective_n);
    EXPECT_EQ(metric.steady, true);
    EXPECT_EQ(metric.trustworthy, true);
}

TEST(Summary, ARateIsWorkOverTimeAndTurnsTheIntervalRound) {
    const std::vector launches{launch_of(noise(2e-3, 400, 1))};
    const auto time = time_metric("time", "", launches);
    const auto rate = rate_metric("throughput", "TFLOP/s", "2 M N K / time", 0.5, launches);
    EXPECT_EQ(rate.name, "throughput");
    EXPECT_EQ(rate.unit, "TFLOP/s");
    EXPECT_EQ(rate.better, record::Better::higher);
    EXPECT_DOUBLE_EQ(rate.value, 0.5 / time.value);
    EXPECT_DOUBLE_EQ(rate.interval->first, 0.5 / time.interval->second);
    EXPECT_DOUBLE_EQ(rate.interval->second, 0.5 / time.interval->first);
    EXPECT_LT(rate.interval->first, rate.value);
    EXPECT_GT(rate.interval->second, rate.value);
}

TEST(Summary, LaunchesThatDifferWidenTheIntervalBeyondTheirSamples) {
    std::vector<record::Launch> apart, close;
    for (unsigned i = 0; i < 4; ++i) {
        apart.push_back(launch_of(noise(1e-3 * (1 + 0.05 * i), 1000, i)));
        close.push_back(launch_of(noise(1e-3, 1000, i)));
    }
    const auto width = [](const record::Metric& metric) {
        return (metric.interval->second - metric.interval->first) / metric.value;
    };
    const auto one = time_metric("time", "", std::span(close).first(1));
    const auto four = time_metric("time", "", close);
    const auto wide = time_metric("time", "", apart);
    EXPECT_GT(width(wide), 3 * width(four));
    EXPECT_GT(width(four), width(one)) << "launches may differ more than four of them show";
    EXPECT_NEAR(four.value, 1e-3, 2e-6);
    EXPECT_NEAR(wide.value, 1.0735e-3, 2e-6) << "the geometric mean";
    EXPECT_EQ(wide.n, 4000u);
    EXPECT_GT(*wide.effective_n, 2000);
}

TEST(Summary, TheIntervalOfTwoLaunchesFollowsTheFormula) {
    const std::vector launches{launch_of(std::vector(200, 1.00e-3)),
                               launch_of(std::vector(200, 1.02e-3))};
    const auto metric = time_metric("time", "", launches);
    const double y = std::log(1.02) / 2;
    const double s = std::sqrt((3 * 1e-4 + 2 * y * y) / 4);
    EXPECT_NEAR(std::log(metric.interval->second / metric.value), 2.776 * s / std::sqrt(2), 1e-4);
    EXPECT_NEAR(metric.value, std::sqrt(1.02) * 1e-3, 1e-9);
}

TEST(Summary, FewSamplesAreNotTrustworthyAndTheirSteadinessIsUnknown) {
    const std::vector launches{launch_of(noise(1e-3, 30, 4))};
    const auto metric = time_metric("time", "", launches);
    EXPECT_EQ(metric.trustworthy, false);
    EXPECT_FALSE(metric.steady.has_value());
    EXPECT_TRUE(metric.interval.has_value());
}

TEST(Summary, ADriftInOneLaunchIsNotSteady) {
    const std::vector launches{launch_of(noise(1e-3, 1000, 1)),
                               launch_of(noise(1e-3, 1000, 2, 0.02))};
    EXPECT_EQ(time_metric("time", "", launches).steady, false);
}

TEST(Summary, ADriftThatDoesntMatterIsSteady) {
    const std::vector launches{launch_of(noise(1e-3, 12000, 1, 0.002))};
    EXPECT_EQ(time_metric("time", "", launches).steady, true);
}

TEST(Summary, WithoutSamplesThereIsNoValue) {
    record::Launch without;
    for (const auto& launches : {std::vector<record::Launch>{}, {without}, {launch_of({})}}) {
        const auto metric = rate_metric("throughput", "GB/s", "", 1, launches);
        EXPECT_TRUE(std::isnan(metric.value));
        EXPECT_FALSE(metric.interval || metric.effective_n || metric.steady || metric.trustworthy);
        EXPECT_EQ(metric.n, 0u);
    }
}

TEST(Summary, ATimeOfZeroIsNoRate) {
    const std::vector one{launch_of(std::vector(200, 0.0))};
    EXPECT_TRUE(std::isnan(rate_metric("throughput", "GB/s", "", 1, one).value));
    const std::vector two{one[0], launch_of(std::vector(200, 1e-3))};
    EXPECT_TRUE(std::isnan(rate_metric("throughput", "GB/s", "", 1, two).value));
}

}  // namespace
}  // namespace assay::measure
