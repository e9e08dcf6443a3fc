#include "measure/interleave.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "base/interrupt.h"
#include "measure/sampler.h"
#include "stats/interval.h"
#include "support/scripted_subject.h"

namespace assay::measure {
namespace {

using stats::Verdict;

// Noise on a machine that becomes faster by 30 % over 10 s and then stays so.
ScriptedSubject::Script warming(double seconds, unsigned seed) {
    return [=, noise = noisy(seconds, 0.01, 0, seed)](std::size_t call, double time) mutable {
        return noise(call, time) * (1 - 0.3 * std::min(time / 10, 1.0));
    };
}

class InterleaveTest : public testing::Test {
  public:
    ~InterleaveTest() override { set_interrupted(false); }

    std::vector<Alternative> compare(Subject& base, Subject& other,
                                     const InterleaveOptions& options = {}) {
        const std::array<Subject*, 2> both{&base, &other};
        return interleave(both, clock, options);
    }

    FakeClock clock;
};

TEST_F(InterleaveTest, ThreePercentSlowerIsFoundUnderADriftOfThirty) {
    ScriptedSubject base(clock, warming(1e-3, 1), 0, "base");
    ScriptedSubject slow(clock, warming(1.03e-3, 2), 0, "slow");
    const auto alternatives = compare(base, slow);
    ASSERT_EQ(alternatives.size(), 2u);
    EXPECT_EQ(alternatives[0].name, "base");
    EXPECT_EQ(alternatives[0].ratio.value, 1);
    EXPECT_EQ(alternatives[0].verdict, Verdict::Same);
    EXPECT_EQ(alternatives[1].name, "slow");
    EXPECT_NEAR(alternatives[1].ratio.value, 1.03, 0.01);
    EXPECT_EQ(alternatives[1].verdict, Verdict::Slower);
}

TEST_F(InterleaveTest, OneAfterTheOtherTheSameScriptsTellTheOpposite) {
    ScriptedSubject base(clock, warming(1e-3, 1));
    ScriptedSubject slow(clock, warming(1.03e-3, 2));
    Sampler sampler(clock, nullptr, article());
    const auto first = stats::estimate_median(sampler.sample(base).seconds);
    clock.advance(4);  // the cases in between
    const auto second = stats::estimate_median(sampler.sample(slow).seconds);
    const stats::Interval ratio{second.interval.lo / first.interval.hi,
                                second.interval.hi / first.interval.lo};
    EXPECT_EQ(stats::verdict(ratio), Verdict::Faster);
}

TEST_F(InterleaveTest, FasterIsFoundToo) {
    ScriptedSubject base(clock, warming(1e-3, 1));
    ScriptedSubject fast(clock, warming(0.96e-3, 2));
    EXPECT_EQ(compare(base, fast)[1].verdict, Verdict::Faster);
}

TEST_F(InterleaveTest, EqualOnesAreTheSameUnderTheSameDrift) {
    ScriptedSubject base(clock, warming(1e-3, 1));
    ScriptedSubject equal(clock, warming(1e-3, 2));
    const auto alternatives = compare(base, equal);
    EXPECT_EQ(alternatives[1].verdict, Verdict::Same);
    EXPECT_EQ(alternatives[1].seconds.size(), 20u) << "decided at the first look";
}

TEST_F(InterleaveTest, NoiseStaysAmbiguousUpToTheLimit) {
    ScriptedSubject base(clock, noisy(0.05, 0.3, 0, 1));
    ScriptedSubject other(clock, noisy(0.0507, 0.3, 0, 2));
    const double start = clock.now();
    const auto alternatives = compare(base, other);
    EXPECT_EQ(alternatives[1].verdict, Verdict::Ambiguous);
    EXPECT_GT(alternatives[1].seconds.size(), 45u);
    EXPECT_GT(clock.now() - start, 9);
    EXPECT_LE(clock.now() - start, 10.2);
}

TEST_F(InterleaveTest, AddsRoundsUntilTheVerdictIsClear) {
    ScriptedSubject base(clock, noisy(0.02, 0.04, 0, 1));
    ScriptedSubject slow(clock, noisy(0.0207, 0.04, 0, 2));
    const auto alternatives = compare(base, slow);
    EXPECT_EQ(alternatives[1].verdict, Verdict::Slower);
    EXPECT_GT(alternatives[1].seconds.size(), 20u);
}

TEST_F(InterleaveTest, EndsAtTheMostRounds) {
    InterleaveOptions options;
    options.max_rounds = 33;
    ScriptedSubject jumpy(
        clock, [](std::size_t call, double) { return call / 200 % 2 == 0 ? 1e-3 : 2e-3; });
    ScriptedSubject even(clock, constant(1e-3));
    const auto alternatives = compare(even, jumpy, options);
    EXPECT_EQ(alternatives[1].verdict, Verdict::Ambiguous);
    EXPECT_EQ(alternatives[1].seconds.size(), 33u);
}

TEST_F(InterleaveTest, TheOrderChangesSoThatEveryOneGoesFirstAndLast) {
    constexpr std::size_t kSubjects = 3;
    std::vector<std::size_t> order;  // of the runs
    std::vector<ScriptedSubject> subjects;
    for (std::size_t i = 0; i < kSubjects; ++i) {
        subjects.emplace_back(clock, [&order, i](std::size_t, double) {
            order.push_back(i);
            return 0.06;  // longer than a round's share: one call each
        });
    }
    std::array<Subject*, kSubjects> all{&subjects[0], &subjects[1], &subjects[2]};
    InterleaveOptions options;
    options.max_rounds = 12;
    options.limit_s = 100;
    interleave(all, clock, options);

    const std::size_t calibration = 2 * kSubjects, warm_up = kSubjects;
    ASSERT_EQ(order.size(), calibration + warm_up + 12 * kSubjects);
    std::map<std::size_t, int> first, last, before;  // before: how often 0 ran before 1
    for (std::size_t at = calibration + warm_up; at < order.size(); at += kSubjects) {
        const auto round = order.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = round + kSubjects;
        ++first[*round];
        ++last[*(end - 1)];
        ++before[std::find(round, end, 0u) < std::find(round, end, 1u)];
    }
    for (std::size_t i = 0; i < kSubjects; ++i) {
        EXPECT_EQ(first[i], 4);
        EXPECT_EQ(last[i], 4);
    }
    EXPECT_EQ(before[0], 6);
    EXPECT_EQ(before[1], 6);
}

TEST_F(InterleaveTest, ALongCallGetsOneRoundWithinTheLimitAtLeast) {
    ScriptedSubject base(clock, constant(6.0));
    ScriptedSubject other(clock, constant(6.0));
    const auto alternatives = compare(base, other);
    EXPECT_EQ(alternatives[0].seconds.size(), 1u);
    EXPECT_EQ(alternatives[1].verdict, Verdict::Same);
}

TEST_F(InterleaveTest, AnInterruptionKeepsTheCompleteRounds) {
    ScriptedSubject base(clock, constant(0.01));
    ScriptedSubject other(clock, [](std::size_t call, double) {
        if (call == 50) set_interrupted(true);
        return 0.01;
    });
    const auto alternatives = compare(base, other);
    EXPECT_EQ(alternatives[0].seconds.size(), alternatives[1].seconds.size());
    EXPECT_GT(alternatives[0].seconds.size(), 3u);
    EXPECT_LE(alternatives[0].seconds.size(), 12u);
}

TEST_F(InterleaveTest, AnInterruptionBeforeTheFirstRoundLeavesNoVerdict) {
    set_interrupted(true);
    ScriptedSubject base(clock, constant(0.01));
    ScriptedSubject other(clock, constant(0.01));
    const auto alternatives = compare(base, other);
    EXPECT_TRUE(alternatives[0].seconds.empty());
    EXPECT_EQ(alternatives[1].verdict, Verdict::Ambiguous);
}

}  // namespace
}  // namespace assay::measure
