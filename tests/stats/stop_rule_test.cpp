#include "stats/stop_rule.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "stats/simulated.h"

namespace assay::stats {
namespace {

// The numbers of samples at which the rule looks at a source until it stops.
std::vector<std::size_t> looks(StopRule rule, Simulated source, Decision& last) {
    std::vector<std::size_t> at;
    std::vector<double> samples;
    do {
        samples.push_back(source.next());
        if (!rule.due(samples.size())) continue;
        last = rule.look(samples);
        at.push_back(samples.size());
    } while (!last.stop);
    return at;
}

TEST(StopRule, LooksEachTimeTheSamplesHaveGrownByHalfAndAtTheLimit) {
    Decision last;
    const auto at = looks(StopRule(1e-9, 100, 100, 1000), {1, Shape::Normal, 0.0}, last);
    EXPECT_EQ(at, (std::vector<std::size_t>{100, 150, 225, 338, 507, 761, 1000}));
    EXPECT_EQ(last.stop, StopReason::SampleLimit);
    EXPECT_EQ(last.estimate.n, 1000u);
}

TEST(StopRule, StopsSoonOnQuietSamples) {
    Decision last;
    const auto at = looks(StopRule(), {2, Shape::Normal, 0.0, 1e-4}, last);
    EXPECT_EQ(last.stop, StopReason::Precise);
    EXPECT_LE(at.back(), 338u);
    EXPECT_LE(last.estimate.relative_half_width(), 0.005);
    EXPECT_TRUE(last.estimate.trustworthy);
}

TEST(StopRule, DoesNotStopBelowTheEffectiveMinimumHoweverNarrowTheInterval) {
    Decision last;
    looks(StopRule(0.005, 100, 100, 12'000), {3, Shape::Normal, 0.9, 1e-4}, last);
    EXPECT_EQ(last.stop, StopReason::Precise);
    EXPECT_GE(last.estimate.effective_n, 100.0);
    EXPECT_GT(last.estimate.n, 500u);
}

TEST(StopRule, StopsAtOnceOnEqualSamples) {
    StopRule rule;
    EXPECT_EQ(rule.look(std::vector<double>(100, 1e-3)).stop, StopReason::Precise);
}

TEST(StopRule, ALimitBelowTheMinimumIsWhereItLooks) {
    StopRule rule(0.005, 100, 100, 20);
    EXPECT_FALSE(rule.due(19));
    EXPECT_TRUE(rule.due(20));
    const auto decision = rule.look(std::vector<double>(20, 1e-3));
    EXPECT_EQ(decision.stop, StopReason::SampleLimit);
    EXPECT_FALSE(decision.estimate.trustworthy);
}

TEST(StopRule, LooksOnceOnlyWhereSamplesComeInBatches) {
    StopRule rule(1e-9);
    ASSERT_TRUE(rule.due(240));
    EXPECT_FALSE(rule.look(normal_samples(4, 240)).stop);
    EXPECT_FALSE(rule.due(359));
    EXPECT_TRUE(rule.due(360));
}

TEST(StopRule, RefusesNoSamples) {
    EXPECT_THROW(StopRule().look({}), Error);
}

TEST(StopReason, HasAName) {
    EXPECT_EQ(name(StopReason::Precise), "precise");
    EXPECT_EQ(name(StopReason::SampleLimit), "sample limit");
    EXPECT_EQ(name(StopReason::TimeLimit), "time limit");
    EXPECT_EQ(name(StopReason::Interrupted), "interrupted");
}

}  // namespace
}  // namespace assay::stats
