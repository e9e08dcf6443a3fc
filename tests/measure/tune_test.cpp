#include "measure/tune.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "support/scripted_subject.h"

namespace assay::measure {
namespace {

class TuneTest : public testing::Test {
  public:
    ~TuneTest() override { set_interrupted(false); }

    // Candidates of these seconds, with noise, all slower by `drift` at a time.
    Tuning run(const std::vector<double>& seconds, double noise, const Protocol& protocol,
               unsigned seed = 1, const std::function<double(double time)>& drift = {}) {
        const double start = clock.now();
        const OpenCandidate open = [&](std::size_t i) {
            auto script = noisy(seconds[i], noise, 0, 1000 * seed + static_cast<unsigned>(i));
            return std::make_unique<ScriptedSubject>(
                clock, [=, this](std::size_t call, double time) mutable {
                    const double factor = drift ? drift(clock.now() - start) : 1;
                    return script(call, time) * factor;
                });
        };
        return tune(seconds.size(), open, clock, protocol);
    }

    // How much slower the winner is than the best.
    static double loss(const Tuning& tuning, const std::vector<double>& seconds) {
        return seconds[tuning.winner] / *std::ranges::min_element(seconds) - 1;
    }

    FakeClock clock;
};

// As the algorithms of a library spread: many far behind, some close.
std::vector<double> spread(std::size_t n, unsigned seed, double call_s = 1e-3) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<> uniform;
    std::vector<double> seconds(n);
    for (auto& one : seconds) {
        const double far = uniform(random);
        one = call_s * (1 + (far < 0.3 ? 0.1 * uniform(random) : 2 * uniform(random)));
    }
    return seconds;
}

TEST_F(TuneTest, TheBestOrOneWithinHalfAPercentWinsUnderNoise) {
    for (const auto& protocol : {boost(), sustained()}) {
        for (unsigned seed = 1; seed <= 100; ++seed) {
            const auto seconds = spread(seed % 5 == 0 ? 200 : 3 + seed, seed);
            const auto tuning = run(seconds, 0.01, protocol, seed);
            // 5 s of bursts are 360 calls of a millisecond: for 200 candidates, a third of them
            // within 10 %, they tell no more.
            const double near = seconds.size() < 200 ? 0.005 : 0.01;
            EXPECT_LE(loss(tuning, seconds), near) << protocol.name << " " << seed;
        }
    }
}

TEST_F(TuneTest, AndUnderAClockThatDriftsForAll) {
    const std::vector<std::function<double(double)>> drifts{
        [](double time) { return 1 + 0.2 * std::min(time / 3, 1.0); },    // heats up
        [](double time) { return 1.2 - 0.2 * std::min(time / 3, 1.0); },  // wakes up
        [](double time) { return 1 + 0.1 * std::sin(3 * time); },
    };
    for (const auto& drift : drifts) {
        for (const auto& protocol : {boost(), sustained()}) {
            for (unsigned seed = 1; seed <= 20; ++seed) {
                const auto seconds = spread(40, seed);
                const auto tuning = run(seconds, 0.01, protocol, seed, drift);
                EXPECT_LE(loss(tuning, seconds), 0.005) << protocol.name << " " << seed;
            }
        }
    }
}

TEST_F(TuneTest, NeverDropsAWinnerThatStandsOut) {
    for (const auto& protocol : {boost(), sustained()}) {
        for (unsigned seed = 1; seed <= 200; ++seed) {
            std::vector<double> seconds(30, 1.02e-3);
            seconds[seed % 30] = 1e-3;
            EXPECT_EQ(run(seconds, 0.01, protocol, seed).winner, seed % 30) << protocol.name;
        }
    }
}

TEST_F(TuneTest, KeepsToItsBudget) {
    for (const double call_s : {20e-6, 1e-3, 20e-3}) {
        for (const std::size_t n : {2U, 20U, 200U}) {
            for (const auto& protocol : {boost(), article()}) {
                const double start = clock.now();
                const auto tuning = run(spread(n, 3, call_s), 0.01, protocol);
                EXPECT_NEAR(tuning.seconds, clock.now() - start, 1e-9);
                EXPECT_LE(tuning.seconds, 7) << protocol.name << " " << n << " " << call_s;
            }
        }
    }
}

TEST_F(TuneTest, SustainedSettlesFirstButNotForLong) {
    const auto steady = run({1e-3, 1.01e-3, 2e-3}, 0.001, sustained());
    EXPECT_GE(steady.seconds, 1.5);
    EXPECT_LE(steady.seconds, 1.5 + 7);
    const auto never = run({1e-3, 1.01e-3, 2e-3}, 0.001, sustained(), 1,
                           [](double time) { return 1 + 0.3 * std::sin(5 * time); });
    EXPECT_LE(never.seconds, 6 + 7);
    EXPECT_EQ(never.winner, 0U);
}

TEST_F(TuneTest, TheBudgetHoldsWithoutTheSettlingAndWithLittleOverrun) {
    for (const double call_s : {20e-6, 1e-3, 5e-3}) {
        for (const std::size_t n : {2U, 32U}) {
            for (const auto& protocol : {boost(), sustained(), article()}) {
                const auto seconds = spread(n, 3, call_s);
                const OpenCandidate open = [&](std::size_t i) {
                    return std::make_unique<ScriptedSubject>(clock, noisy(seconds[i], 0.01));
                };
                const auto tuning = tune(n, open, clock, protocol, {3, 0.1});
                EXPECT_LE(tuning.seconds - tuning.settle_s, 4) << protocol.name << n << call_s;
                EXPECT_GE(tuning.settle_s, protocol.settle ? 1.5 : 0);
            }
        }
    }
}

TEST_F(TuneTest, CachesAreClearedWhereTheProtocolClearsThem) {
    std::size_t clears = 0;
    struct Counted final : public Subject {
        Counted(FakeClock& c, double seconds, std::size_t& counter)
            : subject(c, constant(seconds)), count(counter) {}
        std::string name() const override { return "counted"; }
        void run(std::span<double> seconds, int calls) override { subject.run(seconds, calls); }
        void clear_caches() override { ++count; }
        double resolution() const override { return 0; }
        ScriptedSubject subject;
        std::size_t& count;
    };
    const OpenCandidate open = [&](std::size_t i) {
        return std::make_unique<Counted>(clock, i == 0 ? 1e-3 : 1.02e-3, clears);
    };
    for (const auto& protocol : {boost(), sustained(), article()}) {
        clears = 0;
        tune(2, open, clock, protocol);
        EXPECT_EQ(clears > 0, protocol.clear_between) << protocol.name;
        clears = 0;
        Counted first(clock, 1e-3, clears), second(clock, 1.1e-3, clears);
        const std::vector<Subject*> pair{&first, &second};
        interleave_under(protocol, pair, clock, 1);
        EXPECT_EQ(clears > 0, protocol.clear_between) << protocol.name;
    }
}

TEST_F(TuneTest, LosersGetFewRoundsAndLeaveEarly) {
    const auto tuning = run({1e-3, 5e-3, 1.1e-3, 1.005e-3}, 0.01, sustained());
    EXPECT_EQ(tuning.tried(), 4U);
    EXPECT_EQ(tuning.trials[1].rounds, 0U);
    EXPECT_NEAR(tuning.trials[1].seconds, 5e-3, 0.2e-3);
    EXPECT_LE(tuning.trials[2].rounds, 5U);
    EXPECT_GT(tuning.trials[0].rounds, 5U);
}

TEST_F(TuneTest, DroppedOnesAreClosed) {
    int open_ones = 0, most = 0;
    struct Counted final : public Subject {
        Counted(FakeClock& c, double seconds, int& counter)
            : subject(c, noisy(seconds, 0.001)), count(counter) {
            ++count;
        }
        ~Counted() override { --count; }
        Counted(const Counted&) = delete;
        Counted& operator=(const Counted&) = delete;
        std::string name() const override { return "counted"; }
        void run(std::span<double> seconds, int calls) override { subject.run(seconds, calls); }
        double resolution() const override { return 0; }
        ScriptedSubject subject;
        int& count;
    };
    tune(
        100,
        [&](std::size_t i) {
            auto one = std::make_unique<Counted>(clock, i % 10 == 0 ? 1e-3 : 3e-3, open_ones);
            most = std::max(most, open_ones);
            return one;
        },
        clock, boost());
    EXPECT_EQ(open_ones, 0);
    EXPECT_LE(most, 11);
}

TEST_F(TuneTest, BurstsHaveAnIdleTimeBeforeEachAndAreNoLongerThanTheProtocols) {
    run({1e-3, 1.01e-3, 1.02e-3, 1e-3}, 0.01, boost());
    ASSERT_FALSE(clock.sleeps.empty());
    for (const double idle : clock.sleeps) EXPECT_EQ(idle, boost().idle_s);
    clock.sleeps.clear();
    run({1e-3, 1.01e-3, 1.02e-3, 1e-3}, 0.01, sustained());
    EXPECT_TRUE(clock.sleeps.empty());
}

TEST_F(TuneTest, OneThatCannotBeOpenedOrFailsLaterIsNamedAndEndsNothing) {
    const auto tuning = tune(
        5,
        [&](std::size_t i) -> std::unique_ptr<Subject> {
            if (i == 0) throw Unsupported("no workspace");
            if (i == 1) return nullptr;
            return std::make_unique<ScriptedSubject>(clock, [=](std::size_t call, double) {
                if (i == 2 && call == 12) throw Error("launch failed");
                return i == 3 ? 1.1e-3 : 1e-3 + 1e-6 * static_cast<double>(i);
            });
        },
        clock, sustained());
    EXPECT_EQ(tuning.winner, 4U);
    EXPECT_EQ(tuning.trials[0].failure, "no workspace");
    EXPECT_EQ(tuning.trials[1].failure, "");
    EXPECT_EQ(tuning.trials[2].failure, "launch failed");
    EXPECT_EQ(tuning.trials[4].failure, "");
    EXPECT_EQ(tuning.tried(), 3U);
    EXPECT_TRUE(std::isnan(tuning.trials[1].seconds));
}

TEST_F(TuneTest, ALostDeviceEndsIt) {
    const OpenCandidate open = [&](std::size_t) {
        return std::make_unique<ScriptedSubject>(clock, [](std::size_t call, double) -> double {
            if (call == 20) throw DeviceLost("gone");
            return 1e-3;
        });
    };
    EXPECT_THROW(tune(3, open, clock, sustained()), DeviceLost);
}

TEST_F(TuneTest, NoCandidateOrNoneThatRunsLeavesNoneTried) {
    EXPECT_EQ(run({}, 0, boost()).tried(), 0U);
    EXPECT_EQ(tune(
                  3, [](std::size_t) { return nullptr; }, clock, boost())
                  .tried(),
              0U);
}

TEST_F(TuneTest, AnInterruptionKeepsTheLeader) {
    const auto tuning = tune(
        3,
        [&](std::size_t i) {
            return std::make_unique<ScriptedSubject>(clock, [i](std::size_t call, double) {
                if (i == 2 && call == 40) set_interrupted(true);
                return i == 1 ? 1e-3 : 1.01e-3;
            });
        },
        clock, sustained());
    EXPECT_EQ(tuning.winner, 1U);
}

TEST_F(TuneTest, TheGapIsTakenInThePowerStateOfTheProtocol) {
    ScriptedSubject first(clock, noisy(1.1e-3, 0.01, 0, 1));
    ScriptedSubject winner(clock, noisy(1e-3, 0.01, 0, 2));
    const std::vector<Subject*> pair{&first, &winner};
    const double start = clock.now();
    const auto bursts = interleave_under(boost(), pair, clock, 1.5);
    EXPECT_LE(clock.now() - start, 1.5);
    EXPECT_NEAR(bursts[1].ratio.value, 1 / 1.1, 0.01);
    EXPECT_LT(bursts[1].ratio.interval.hi, 0.92);
    EXPECT_GE(bursts[1].seconds.size(), 12U);
    std::size_t calls = 0;
    for (const auto* one : {&first, &winner}) {
        for (const auto& run : one->runs) {
            if (run.start > start + boost().idle_s) calls += run.samples;
        }
    }
    EXPECT_LE(calls, 20 * clock.sleeps.size());
    EXPECT_GT(calls, 10 * clock.sleeps.size());
    clock.sleeps.clear();
    EXPECT_NEAR(interleave_under(sustained(), pair, clock, 3)[1].ratio.value, 1 / 1.1, 0.01);
    EXPECT_TRUE(clock.sleeps.empty());
}

}  // namespace
}  // namespace assay::measure
