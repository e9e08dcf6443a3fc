#include "measure/settle.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/interrupt.h"
#include "support/scripted_subject.h"

namespace assay::measure {
namespace {

// Becomes slower by 30 % until `end` s, as a card does that reaches its power limit.
ScriptedSubject::Script slowing_until(double end) {
    return [=](std::size_t, double time) { return 1e-3 * (1 + 0.3 * std::min(time / end, 1.0)); };
}

TEST(Settle, ASteadySubjectNeedsThreeWindows) {
    FakeClock clock;
    ScriptedSubject subject(clock, constant(1e-3));
    Runner runner(subject, clock);
    const auto settling = settle(runner, clock, sustained());
    EXPECT_TRUE(settling.settled);
    EXPECT_NEAR(settling.seconds, 1.5, 0.01);
}

TEST(Settle, WaitsUntilADriftEnds) {
    FakeClock clock;
    ScriptedSubject subject(clock, slowing_until(6));
    Runner runner(subject, clock);
    const double start = clock.now();
    const auto settling = settle(runner, clock, sustained());
    EXPECT_TRUE(settling.settled);
    EXPECT_GT(clock.now() - start, 6);
    EXPECT_LT(clock.now() - start, 8.5);
}

TEST(Settle, GivesUpAtTheLimitAndSaysSo) {
    FakeClock clock;
    ScriptedSubject subject(clock, [](std::size_t, double time) { return 1e-3 * (1 + time); });
    Runner runner(subject, clock);
    const auto settling = settle(runner, clock, sustained());
    EXPECT_FALSE(settling.settled);
    EXPECT_GT(settling.seconds, 19);
    EXPECT_LE(settling.seconds, 20.1);
}

TEST(Settle, ACallLongerThanAWindowIsAWindowOfItsOwn) {
    FakeClock clock;
    ScriptedSubject subject(clock, constant(2.0));
    Runner runner(subject, clock);
    const auto settling = settle(runner, clock, sustained());
    EXPECT_TRUE(settling.settled);
    EXPECT_NEAR(settling.seconds, 6, 1e-6);
}

TEST(Settle, StartsNoWindowThatWouldEndBeyondTheLimit) {
    FakeClock clock;
    ScriptedSubject subject(clock, constant(8.0));
    Runner runner(subject, clock);
    const auto settling = settle(runner, clock, sustained());
    EXPECT_FALSE(settling.settled);
    EXPECT_NEAR(settling.seconds, 16, 1e-6);
}

TEST(Settle, RareOutliersDontKeepItFromSettling) {
    FakeClock clock;
    ScriptedSubject subject(clock,
                            [](std::size_t call, double) { return call % 50 == 0 ? 20e-3 : 1e-3; });
    Runner runner(subject, clock);
    const auto settling = settle(runner, clock, sustained());
    EXPECT_TRUE(settling.settled);
    EXPECT_LT(settling.seconds, 2);
}

TEST(Settle, AnInterruptionEndsItWithinPartOfAWindow) {
    FakeClock clock;
    ScriptedSubject subject(clock, [](std::size_t call, double) {
        if (call == 700) set_interrupted(true);
        return 1e-3;
    });
    Runner runner(subject, clock);
    const auto settling = settle(runner, clock, sustained());
    set_interrupted(false);
    EXPECT_FALSE(settling.settled);
    EXPECT_NEAR(settling.seconds, 0.7, 0.11);
}

}  // namespace
}  // namespace assay::measure
