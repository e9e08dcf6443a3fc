#include "measure/sampler.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "stats/interval.h"
#include "stats/quantile.h"
#include "stats/steadiness.h"
#include "support/scripted_subject.h"

namespace assay::measure {
namespace {

using stats::StopReason;

// Sustained without the settling.
Protocol back_to_back() {
    Protocol protocol = sustained();
    protocol.settle = false;
    return protocol;
}

class SamplerTest : public testing::Test {
  public:
    ~SamplerTest() override { set_interrupted(false); }

    Sampling sample(Subject& subject, const Protocol& protocol) {
        return Sampler(clock, nullptr, protocol).sample(subject);
    }

    FakeClock clock;
};

TEST_F(SamplerTest, ASubjectWithoutNoiseStopsAtTheFirstLook) {
    ScriptedSubject subject(clock, constant(1e-3));
    const auto sampling = sample(subject, back_to_back());
    EXPECT_EQ(sampling.stop, StopReason::Precise);
    EXPECT_GE(sampling.seconds.size(), 100u);
    EXPECT_LE(sampling.seconds.size(), 200u) << "two chunks of 0.1 s";
    EXPECT_EQ(sampling.calls_per_sample, 1);
    EXPECT_FALSE(sampling.settled.has_value());
    EXPECT_NEAR(stats::median(sampling.seconds), 1e-3, 1e-9);
}

TEST_F(SamplerTest, NoiseIsSampledUntilTheIntervalIsNarrow) {
    ScriptedSubject subject(clock, noisy(1e-3, 0.06));
    const auto sampling = sample(subject, back_to_back());
    EXPECT_EQ(sampling.stop, StopReason::Precise);
    EXPECT_GT(sampling.seconds.size(), 500u);
    const auto estimate = stats::estimate_median(sampling.seconds);
    EXPECT_LE(estimate.relative_half_width(), 0.005);
    EXPECT_LE(estimate.interval.lo, 1.005e-3);
    EXPECT_GE(estimate.interval.hi, 0.995e-3);
}

TEST_F(SamplerTest, OutliersMoveNeitherTheMedianNorTheStop) {
    const auto noise = noisy(1e-3, 0.005);
    ScriptedSubject subject(clock, [=](std::size_t call, double time) mutable {
        return noise(call, time) * (call % 20 == 7 ? 10 : 1);
    });
    const auto sampling = sample(subject, back_to_back());
    EXPECT_EQ(sampling.stop, StopReason::Precise);
    EXPECT_NEAR(stats::median(sampling.seconds), 1e-3, 3e-6);
    EXPECT_LT(sampling.seconds.size(), 500u);
}

TEST_F(SamplerTest, AutocorrelatedNoiseNeedsMoreSamplesForTheSameInterval) {
    ScriptedSubject independent(clock, noisy(1e-3, 0.02));
    ScriptedSubject correlated(clock, noisy(1e-3, 0.02, 0.9));
    const auto few = sample(independent, back_to_back());
    const auto many = sample(correlated, back_to_back());
    EXPECT_EQ(few.stop, StopReason::Precise);
    EXPECT_EQ(many.stop, StopReason::Precise);
    EXPECT_GT(many.seconds.size(), 4 * few.seconds.size());
}

TEST_F(SamplerTest, AutocorrelatedNoiseAtTheLimitIsNotTrustworthy) {
    Protocol protocol = back_to_back();
    protocol.max_samples = 300;
    ScriptedSubject subject(clock, noisy(1e-3, 0.01, 0.9));
    const auto sampling = sample(subject, protocol);
    EXPECT_EQ(sampling.stop, StopReason::SampleLimit);
    EXPECT_EQ(sampling.seconds.size(), 300u);
    EXPECT_FALSE(stats::estimate_median(sampling.seconds).trustworthy);
}

TEST_F(SamplerTest, EverySampleHasItsClockWhereTheSubjectStampsThem) {
    for (const auto& protocol : {back_to_back(), boost(), article()}) {
        double mhz = 0;  // of the call that runs: its time tells which clock is its own
        ScriptedSubject subject(clock, [&](std::size_t, double) { return 1 / mhz; });
        subject.clock_script = [&](double time) { return mhz = 1000 + 50 * std::sin(time); };
        const auto sampling = sample(subject, protocol);
        ASSERT_EQ(sampling.clock_mhz.size(), sampling.seconds.size()) << protocol.name;
        for (std::size_t i = 0; i < sampling.seconds.size(); ++i) {
            EXPECT_NEAR(sampling.clock_mhz[i] * sampling.seconds[i], 1, 1e-6) << protocol.name;
        }
    }
    ScriptedSubject without(clock, constant(1e-3));
    EXPECT_TRUE(sample(without, boost()).clock_mhz.empty());
}

TEST_F(SamplerTest, ADriftIsLeftInTheSamplesForSteadinessToFind) {
    Protocol protocol = back_to_back();
    protocol.target_half_width = 0;
    protocol.limit_s = 1;
    const auto noise = noisy(1e-3, 0.03);
    ScriptedSubject subject(clock, [=](std::size_t call, double time) mutable {
        return noise(call, time) * (1 + 0.05 * time);
    });
    const auto found = stats::steadiness(sample(subject, protocol).seconds);
    EXPECT_FALSE(found.steady);
    EXPECT_NEAR(found.drift, 0.05, 0.01);
}

TEST_F(SamplerTest, CoarseTicksAreOutlastedByManyCallsASample) {
    const auto noise = noisy(1e-6, 0.01);
    ScriptedSubject subject(clock, noise, 10e-6);
    const auto sampling = sample(subject, back_to_back());
    EXPECT_GE(sampling.calls_per_sample, 1000);
    EXPECT_EQ(sampling.stop, StopReason::Precise);
    EXPECT_NEAR(stats::median(sampling.seconds), 1e-6, 1e-8);
}

TEST_F(SamplerTest, TheTimeLimitEndsItBeforeNotAfter) {
    ScriptedSubject subject(clock, noisy(0.03, 0.2));
    const auto sampling = sample(subject, back_to_back());
    EXPECT_EQ(sampling.stop, StopReason::TimeLimit);
    EXPECT_LE(sampling.sampling_s, 10.05);
    EXPECT_GT(sampling.sampling_s, 9.5);
    EXPECT_NEAR(sampling.sampling_s, 0.03 * static_cast<double>(sampling.seconds.size()), 0.5);
}

TEST_F(SamplerTest, ACallLongerThanTheLimitIsSampledOnce) {
    ScriptedSubject subject(clock, constant(25.0));
    const auto sampling = sample(subject, back_to_back());
    EXPECT_EQ(sampling.seconds.size(), 1u);
    EXPECT_EQ(sampling.stop, StopReason::TimeLimit);
}

TEST_F(SamplerTest, NoCallIsStartedThatWouldEndBeyondTheLimit) {
    ScriptedSubject subject(clock, constant(3.0));
    const auto sampling = sample(subject, back_to_back());
    EXPECT_EQ(sampling.seconds.size(), 3u);
    EXPECT_EQ(sampling.stop, StopReason::TimeLimit);
}

TEST_F(SamplerTest, TheSampleLimitIsExact) {
    Protocol protocol = back_to_back();
    protocol.max_samples = 1234;
    protocol.target_half_width = 0;
    ScriptedSubject subject(clock, noisy(1e-4, 0.1));
    const auto sampling = sample(subject, protocol);
    EXPECT_EQ(sampling.stop, StopReason::SampleLimit);
    EXPECT_EQ(sampling.seconds.size(), 1234u);
}

TEST_F(SamplerTest, SustainedSamplesWithoutAPause) {
    ScriptedSubject subject(clock, noisy(1e-3, 0.02));
    sample(subject, sustained());
    EXPECT_TRUE(clock.sleeps.empty());
    for (std::size_t i = 1; i < subject.runs.size(); ++i) {
        EXPECT_DOUBLE_EQ(subject.runs[i].start, subject.runs[i - 1].end);
    }
}

TEST_F(SamplerTest, SustainedSamplesOnlyWhatCameAfterTheDrift) {
    const auto noise = noisy(1e-3, 0.01);
    ScriptedSubject subject(clock, [=](std::size_t call, double time) mutable {
        return noise(call, time) * (1 + 0.15 * std::min(time / 4, 1.0));
    });
    const auto sampling = sample(subject, sustained());
    EXPECT_EQ(sampling.settled, true);
    EXPECT_GT(sampling.settle_s, 4);
    EXPECT_EQ(sampling.stop, StopReason::Precise);
    EXPECT_NEAR(stats::median(sampling.seconds), 1.15e-3, 5e-6);
}

TEST_F(SamplerTest, SustainedSaysWhereItNeverSettled) {
    ScriptedSubject subject(clock, [](std::size_t, double t) { return 1e-3 * (1 + 0.1 * t); });
    const auto sampling = sample(subject, sustained());
    EXPECT_EQ(sampling.settled, false);
    EXPECT_FALSE(sampling.seconds.empty());
}

TEST_F(SamplerTest, ASamplerSettlesAgainForTheNextSubject) {
    Sampler sampler(clock, nullptr, sustained());
    for (int i = 0; i < 2; ++i) {
        ScriptedSubject subject(clock, constant(1e-3));
        const auto sampling = sampler.sample(subject);
        EXPECT_EQ(sampling.settled, true);
        EXPECT_NEAR(sampling.settle_s, 1.5, 0.01) << "three windows where it is steady already";
        clock.advance(5);  // the device cools meanwhile
    }
}

// The runs between one sleep and the next: the bursts.
std::vector<std::vector<ScriptedSubject::Run>> bursts(const ScriptedSubject& subject) {
    std::vector<std::vector<ScriptedSubject::Run>> result;
    double end = -1;
    for (const auto& run : subject.runs) {
        if (result.empty() || run.start > end) result.emplace_back();
        result.back().push_back(run);
        end = run.end;
    }
    return result;
}

TEST_F(SamplerTest, BoostIdlesBeforeEachBurstOfAtMostTwentyCalls) {
    ScriptedSubject subject(clock, noisy(1e-4, 0.02));
    const auto sampling = sample(subject, boost());
    const auto all = bursts(subject);
    ASSERT_EQ(all.size(), clock.sleeps.size() + 1) << "the calibration, then the bursts";
    for (const double sleep : clock.sleeps) EXPECT_DOUBLE_EQ(sleep, 0.25);
    for (std::size_t i = 1; i < all.size(); ++i) {
        std::size_t calls = 0;
        for (const auto& run : all[i]) calls += run.samples;
        EXPECT_EQ(calls, 20u);
    }
    EXPECT_EQ(sampling.seconds.size(), 19 * clock.sleeps.size());
}

TEST_F(SamplerTest, BoostBurstsLastAtMostThirtyMilliseconds) {
    for (const double call_s : {0.002, 0.004, 0.009, 0.02}) {
        ScriptedSubject subject(clock, constant(call_s));
        sample(subject, boost());
        const auto all = bursts(subject);
        ASSERT_GT(all.size(), 2u);
        for (std::size_t i = 1; i < all.size(); ++i) {
            EXPECT_LE(all[i].back().end - all[i].front().start, 0.03 + 1e-9) << call_s;
            EXPECT_GT(all[i].back().end - all[i].front().start, 0.015) << call_s;
        }
    }
}

TEST_F(SamplerTest, ACallLongerThanABurstIsABurst) {
    ScriptedSubject subject(clock, constant(0.4));
    const auto sampling = sample(subject, boost());
    EXPECT_EQ(sampling.seconds.size(), clock.sleeps.size());
    EXPECT_EQ(sampling.seconds.size(), 15u) << "10 s of 0.25 s idle and 0.4 s work";
}

TEST_F(SamplerTest, TheFirstCallAfterTheIdlingIsNotCounted) {
    double last_end = 0;
    ScriptedSubject subject(clock, [&](std::size_t, double time) {
        const double seconds = time - last_end > 0.1 ? 5e-3 : 1e-3;
        last_end = time + seconds;
        return seconds;
    });
    const auto sampling = sample(subject, boost());
    EXPECT_GE(sampling.seconds.size(), 100u);
    EXPECT_LT(stats::quantile(sampling.seconds, 1.0), 1.1e-3);
}

TEST_F(SamplerTest, ClearingThatTakesFarLongerThanTheCallKeepsToTheLimit) {
    ScriptedSubject subject(clock, constant(5e-6));
    subject.clear_s = 0.05;
    auto protocol = article();
    protocol.limit_s = 1;
    const double start = clock.now();
    sample(subject, protocol);
    EXPECT_LT(clock.now() - start, 1.5);
}

TEST_F(SamplerTest, ArticleClearsBeforeEachSampleAndTakesItsTime) {
    ScriptedSubject subject(clock, noisy(1e-3, 0.3));
    const auto sampling = sample(subject, article());
    EXPECT_NEAR(sampling.sampling_s, 0.2, 0.01);
    EXPECT_GE(sampling.seconds.size(), 150u);
    EXPECT_GE(subject.clears.size(), sampling.seconds.size());
    for (std::size_t i = 3; i < subject.runs.size(); ++i) {
        EXPECT_EQ(subject.runs[i].samples, 1u);
    }
}

TEST_F(SamplerTest, ArticleTakesAHundredSamplesOfLongerCalls) {
    ScriptedSubject subject(clock, constant(5e-3));
    const auto sampling = sample(subject, article());
    EXPECT_EQ(sampling.seconds.size(), 100u);
    EXPECT_EQ(sampling.stop, StopReason::TimeLimit);
}

TEST_F(SamplerTest, ArticleRunsOneCallASampleHoweverShort) {
    ScriptedSubject subject(clock, constant(20e-6), 1e-6);
    EXPECT_EQ(sample(subject, article()).calls_per_sample, 1);
    EXPECT_EQ(sample(subject, back_to_back()).calls_per_sample, 6);
}

TEST_F(SamplerTest, AnInterruptionKeepsTheSamplesThatAreThere) {
    ScriptedSubject subject(clock, [](std::size_t call, double) {
        if (call == 450) set_interrupted(true);
        return call % 2 == 0 ? 1e-3 : 2e-3;
    });
    const auto sampling = sample(subject, back_to_back());
    EXPECT_EQ(sampling.stop, StopReason::Interrupted);
    EXPECT_GT(sampling.seconds.size(), 400u);
    EXPECT_LT(sampling.seconds.size(), 560u);
    for (const double seconds : sampling.seconds) EXPECT_GT(seconds, 0.9e-3);
}

TEST_F(SamplerTest, AnInterruptionWhileIdlingStartsNoBurst) {
    class InterruptedClock final : public Clock {
      public:
        explicit InterruptedClock(FakeClock& inner) : inner_(inner) {}
        double now() override { return inner_.now(); }
        void sleep(double) override { set_interrupted(true); }

      private:
        FakeClock& inner_;
    } idling(clock);
    ScriptedSubject subject(clock, constant(1e-3));
    const auto sampling = Sampler(idling, nullptr, boost()).sample(subject);
    EXPECT_EQ(sampling.stop, StopReason::Interrupted);
    EXPECT_TRUE(sampling.seconds.empty());
    EXPECT_EQ(subject.calls(), 2u) << "the calibration alone";
}

TEST_F(SamplerTest, AnImpossibleTimeIsAnErrorThatNamesTheSubject) {
    for (const double impossible : {-1e-3, std::numeric_limits<double>::quiet_NaN()}) {
        class Broken final : public Subject {
          public:
            explicit Broken(double later) : later_(later) {}
            std::string name() const override { return "broken timer"; }
            double resolution() const override { return 0; }
            void run(std::span<double> seconds, int) override {
                for (double& s : seconds) s = runs_ < 2 ? 1e-3 : later_;
                ++runs_;
            }

          private:
            double later_;
            int runs_ = 0;
        } subject(impossible);
        try {
            sample(subject, back_to_back());
            FAIL() << "must throw";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("broken timer"), std::string::npos);
        }
    }
}

class FakeTelemetry final : public device::Telemetry {
  public:
    explicit FakeTelemetry(FakeClock& clock) : clock_(clock) {}
    device::Reading read() override {
        device::Reading reading;
        reading.t =
            looks_every > 0 ? std::floor(clock_.now() / looks_every) * looks_every : clock_.now();
        reading.clock_mhz = 1000 + reads++;
        times.push_back(clock_.now());
        return reading;
    }
    std::vector<std::string> throttle_reasons() override {
        return reads > 2 ? std::vector<std::string>{"power cap", "heat"}
                         : std::vector<std::string>{};
    }
    std::string clock_source() const override { return "scripted"; }
    std::string power_source() const override { return "unavailable: scripted"; }

    double looks_every = 0;  // s; 0: at each read
    int reads = 0;
    std::vector<double> times;

  private:
    FakeClock& clock_;
};

TEST_F(SamplerTest, TelemetryIsReadBeforeTheFirstAndAfterEachChunk) {
    FakeTelemetry telemetry(clock);
    Protocol protocol = back_to_back();
    protocol.target_half_width = 0;
    protocol.limit_s = 1;
    ScriptedSubject subject(clock, noisy(1e-3, 0.1));
    const auto sampling = Sampler(clock, &telemetry, protocol).sample(subject);

    ASSERT_GE(sampling.telemetry.size(), 10u);
    EXPECT_LE(sampling.telemetry.size(), 15u);
    EXPECT_DOUBLE_EQ(sampling.telemetry.front().t, 0);
    EXPECT_NEAR(sampling.telemetry.back().t, sampling.sampling_s, 1e-9);
    for (std::size_t i = 1; i < sampling.telemetry.size(); ++i) {
        EXPECT_LE(sampling.telemetry[i].t - sampling.telemetry[i - 1].t, 0.13);
    }
    EXPECT_EQ(sampling.telemetry[3].clock_mhz, 1003);
    EXPECT_EQ(sampling.throttle_reasons, (std::vector<std::string>{"power cap", "heat"}));
}

TEST_F(SamplerTest, AReadingKeepsItsOwnTimeAndCountsOnce) {
    FakeTelemetry telemetry(clock);
    telemetry.looks_every = 0.3;
    clock.advance(0.01);  // since 99.9 + 0.11
    Protocol protocol = back_to_back();
    protocol.target_half_width = 0;
    protocol.limit_s = 1;
    ScriptedSubject subject(clock, noisy(1e-3, 0.1));
    const auto sampling = Sampler(clock, &telemetry, protocol).sample(subject);

    ASSERT_GE(telemetry.reads, 10);
    ASSERT_EQ(sampling.telemetry.size(), 4U) << "one a look";
    EXPECT_LT(sampling.telemetry.front().t, 0) << "from before the sampling";
    EXPECT_GT(sampling.telemetry.front().t, -0.3);
    for (std::size_t i = 1; i < sampling.telemetry.size(); ++i) {
        EXPECT_NEAR(sampling.telemetry[i].t - sampling.telemetry[i - 1].t, 0.3, 1e-9);
    }
}

TEST_F(SamplerTest, InBoostABurstHasAReadingOfItsOwn) {
    FakeTelemetry telemetry(clock);
    ScriptedSubject subject(clock, noisy(1e-3, 0.02));
    const auto sampling = Sampler(clock, &telemetry, boost()).sample(subject);
    EXPECT_EQ(sampling.telemetry.size(), clock.sleeps.size() + 1);
}

}  // namespace
}  // namespace assay::measure
