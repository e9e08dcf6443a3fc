// What the estimators promise, over thousands of simulated runs with fixed seeds. Named Simulation*
// so that a sanitizer's slow build can leave them out.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stats/ratio.h"
#include "stats/simulated.h"
#include "stats/steadiness.h"
#include "stats/stop_rule.h"
#include "stats/verdict.h"

namespace assay::stats {
namespace {

constexpr int kRuns = 2000;
constexpr double kPercent = 100.0 / kRuns;

std::uint64_t seed_of(int run, std::uint64_t series) {
    return series * 1'000'003 + static_cast<std::uint64_t>(run);
}

// Samples under the rule until it stops.
Decision sample(StopRule rule, Simulated source) {
    std::vector<double> samples;
    for (;;) {
        samples.push_back(source.next());
        if (!rule.due(samples.size())) continue;
        const auto decision = rule.look(samples);
        if (decision.stop) return decision;
    }
}

struct Source {
    const char* name;
    Shape shape;
    double rho;
};

class SimulationCoverage : public testing::TestWithParam<std::tuple<Source, double>> {};

TEST_P(SimulationCoverage, ThroughTheStopRule) {
    const auto& [source, target] = GetParam();
    int covered = 0;
    int untrusted = 0;
    for (int run = 0; run < kRuns; ++run) {
        const auto [stop, estimate] =
            sample(StopRule(target, 100, 100, 6000), {seed_of(run, 1), source.shape, source.rho});
        covered += estimate.interval.lo <= 1.0 && 1.0 <= estimate.interval.hi;
        untrusted += !estimate.trustworthy;
    }
    RecordProperty("covered_percent", std::to_string(covered * kPercent));
    RecordProperty("untrusted_percent", std::to_string(untrusted * kPercent));
    EXPECT_GE(covered * kPercent, 92.5);
    EXPECT_LE(covered * kPercent, 97.0);
    EXPECT_LE(untrusted * kPercent, 2.0);
}

INSTANTIATE_TEST_SUITE_P(
    Median, SimulationCoverage,
    testing::Combine(testing::Values(Source{"independent", Shape::Normal, 0.0},
                                     Source{"student_t3", Shape::StudentT3, 0.0},
                                     Source{"ar_0_5", Shape::Normal, 0.5},
                                     Source{"ar_0_9", Shape::Normal, 0.9}),
                     testing::Values(0.005, 0.0025)),
    [](const auto& instance) {
        return std::string(std::get<0>(instance.param).name) +
               (std::get<1>(instance.param) == 0.005 ? "_half_percent" : "_quarter_percent");
    });

TEST(SimulationTrust, TooFewDependentSamplesAreSaidToBe) {
    int untrusted = 0;
    for (int run = 0; run < kRuns; ++run) {
        const auto decision =
            sample(StopRule(0.005, 100, 100, 300), {seed_of(run, 2), Shape::Normal, 0.9});
        untrusted += !decision.estimate.trustworthy;
    }
    EXPECT_GE(untrusted * kPercent, 95.0);
}

// A timer with ticks of two standard deviations: most samples are equal to one of two values.
TEST(SimulationTrust, ACoarseTimerKeepsTheCoverage) {
    constexpr double kTick = 0.02;
    int covered = 0;
    for (int run = 0; run < kRuns; ++run) {
        // The median of ticks is the tick that the true median, 1, is rounded to.
        auto samples = normal_samples(seed_of(run, 3), 150);
        for (double& x : samples) x = std::round(x / kTick) * kTick;
        const auto [lo, hi] = estimate_median(samples).interval;
        covered += lo <= 1.0 && 1.0 <= hi;
    }
    EXPECT_GE(covered * kPercent, 95.0);
}

struct Series {
    const char* name;
    std::size_t n;
    double rho;
    double most_false_alarms;
};

class SimulationSteadiness : public testing::TestWithParam<Series> {};

TEST_P(SimulationSteadiness, FindsOnePercentOfDriftInOnePercentOfNoise) {
    const auto& series = GetParam();
    int found = 0;
    int false_alarms = 0;
    for (int run = 0; run < kRuns; ++run) {
        auto samples = normal_samples(seed_of(run, 4), series.n, series.rho);
        false_alarms += !steadiness(samples).steady;
        for (std::size_t i = 0; i < series.n; ++i) {
            samples[i] += 0.01 * static_cast<double>(i) / static_cast<double>(series.n - 1);
        }
        const auto drifting = steadiness(samples);
        found += !drifting.steady && drifting.drift > 0.0;
    }
    RecordProperty("found_percent", std::to_string(found * kPercent));
    RecordProperty("false_alarms_percent", std::to_string(false_alarms * kPercent));
    EXPECT_GE(found * kPercent, 95.0);
    EXPECT_LE(false_alarms * kPercent, series.most_false_alarms);
}

INSTANTIATE_TEST_SUITE_P(Drift, SimulationSteadiness,
                         testing::Values(Series{"independent_300", 300, 0.0, 5.0},
                                         Series{"ar_0_5_1000", 1000, 0.5, 6.0},
                                         Series{"ar_0_9_3000", 3000, 0.9, 10.0}),
                         [](const auto& instance) { return instance.param.name; });

// Fifty cases measured every night, four launches each, against the twenty nights before; each
// case drifts by its own rate, up to 0.5 % a month.
class SimulatedNights {
  public:
    static constexpr std::size_t kLaunches = 4;
    static constexpr std::size_t kBaselineNights = 20;

    explicit SimulatedNights(std::uint64_t seed) : engine_(seed) {
        constexpr double kMonthlyDrift = 0.005;
        rate_ = std::uniform_real_distribution(-kMonthlyDrift, kMonthlyDrift)(engine_) / 30.0;
        for (std::size_t i = 0; i < kBaselineNights; ++i) pass(launches(1.0));
    }

    // Tonight's verdict with the case's time changed by `factor`; then the night is history.
    Verdict tonight(double factor) {
        const auto measured = launches(factor);
        const auto ratio =
            ratio_of_launches(std::vector(baseline_.begin(), baseline_.end()), measured);
        pass(measured);
        return verdict(ratio.interval);
    }

  private:
    std::vector<MedianEstimate> launches(double factor) {
        constexpr double kRunToRun = 0.007;
        constexpr double kInside = 0.001;
        std::vector<MedianEstimate> result;
        for (std::size_t i = 0; i < kLaunches; ++i) {
            const double m = factor * std::exp(rate_ * night_ + kRunToRun * normal_(engine_));
            result.push_back({m, {m * (1 - kInside), m * (1 + kInside)}, 500, 500.0, true});
        }
        return result;
    }

    void pass(const std::vector<MedianEstimate>& night) {
        baseline_.insert(baseline_.end(), night.begin(), night.end());
        while (baseline_.size() > kBaselineNights * kLaunches) baseline_.pop_front();
        night_ += 1.0;
    }

    std::mt19937_64 engine_;
    std::normal_distribution<double> normal_;
    std::deque<MedianEstimate> baseline_;
    double rate_ = 0.0;
    double night_ = 0.0;
};

constexpr int kCases = 50;
constexpr int kNights = 200;

TEST(SimulationVerdict, NightsWithoutAChangeAreNeverSlowerAndSeldomAmbiguous) {
    std::array<int, 4> verdicts{};
    for (int i = 0; i < kCases; ++i) {
        SimulatedNights nights(seed_of(i, 5));
        for (int night = 0; night < kNights; ++night) {
            ++verdicts[static_cast<std::size_t>(nights.tonight(1.0))];
        }
    }
    const double ambiguous =
        100.0 * verdicts[static_cast<std::size_t>(Verdict::Ambiguous)] / (kCases * kNights);
    RecordProperty("ambiguous_percent", std::to_string(ambiguous));
    EXPECT_EQ(verdicts[static_cast<std::size_t>(Verdict::Slower)], 0);
    EXPECT_EQ(verdicts[static_cast<std::size_t>(Verdict::Faster)], 0);
    EXPECT_LE(ambiguous, 10.0);
}

TEST(SimulationVerdict, AChangeOfThreePercentIsFoundTheSameNight) {
    int found = 0;
    for (int run = 0; run < kRuns; ++run) {
        found += SimulatedNights(seed_of(run, 6)).tonight(1.03) == Verdict::Slower;
    }
    RecordProperty("found_percent", std::to_string(found * kPercent));
    EXPECT_GE(found * kPercent, 97.0);
}

}  // namespace
}  // namespace assay::stats
