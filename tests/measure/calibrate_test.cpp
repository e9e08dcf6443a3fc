#include "measure/calibrate.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/scripted_subject.h"

namespace assay::measure {
namespace {

TEST(Calibrate, OneCallASampleWhereTheTimerIsFineEnough) {
    FakeClock clock;
    ScriptedSubject subject(clock, constant(1e-3), 1e-6);
    const auto calibration = calibrate(subject, clock);
    EXPECT_EQ(calibration.calls_per_sample, 1);
    EXPECT_NEAR(calibration.sample_s, 1e-3, 1e-9);
    EXPECT_EQ(subject.calls(), 2u);
}

TEST(Calibrate, ShortCallsShareASampleOfAHundredTicks) {
    FakeClock clock;
    ScriptedSubject subject(clock, constant(1e-6), 10e-6);
    const auto calibration = calibrate(subject, clock);
    EXPECT_GE(calibration.calls_per_sample, 1000);
    EXPECT_LE(calibration.calls_per_sample, 1500);
    EXPECT_NEAR(calibration.sample_s, calibration.calls_per_sample * 1e-6, 1e-9);
}

TEST(Calibrate, ADearFirstCallDoesntMakeTheOthersLookLong) {
    FakeClock clock;
    ScriptedSubject subject(
        clock, [](std::size_t call, double) { return call == 0 ? 0.5 : 1e-6; }, 10e-6);
    EXPECT_GE(calibrate(subject, clock).calls_per_sample, 1000);
}

TEST(Calibrate, AnInterruptionOfOneSampleDoesntMakeItLookLongEnough) {
    FakeClock clock;
    // 5 ms of something else while a sample of 100 calls runs, which alone take 0.1 ms.
    ScriptedSubject subject(
        clock, [](std::size_t call, double) { return call == 50 ? 5e-3 : 1e-6; }, 10e-6);
    EXPECT_GE(calibrate(subject, clock).calls_per_sample, 1000);
}

TEST(Calibrate, ALongCallIsRunOnlyOnce) {
    FakeClock clock;
    ScriptedSubject subject(clock, constant(5.0), 1e-6);
    EXPECT_EQ(calibrate(subject, clock).calls_per_sample, 1);
    EXPECT_EQ(subject.calls(), 1u);
}

TEST(Calibrate, CallsThatTakeNoTimeAreAnErrorThatNamesTheSubject) {
    FakeClock clock;
    ScriptedSubject subject(clock, constant(0.0), 1e-6, "nothing");
    try {
        calibrate(subject, clock);
        FAIL() << "must throw";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("nothing"), std::string::npos);
    }
}

}  // namespace
}  // namespace assay::measure
