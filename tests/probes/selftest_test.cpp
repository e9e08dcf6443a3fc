#include "probes/selftest.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "ops/fill.h"
#include "probes/fake_bench.h"
#include "probes/hooked_memory.h"

namespace assay::probes {
namespace {

const SelftestProbe kProbe;

record::Case test(const char* name) {
    return record::Case().set("test", name);
}

TEST(Selftest, HasACaseForEachTest) {
    std::set<std::string> names;
    for (const auto& what : kProbe.expand(options_of(kProbe), {})) names.insert(what.at("test"));
    EXPECT_EQ(names, (std::set<std::string>{"timer", "checker", "filler", "sampler"}));
    FakeBench bench;
    EXPECT_THROW(bench.run(kProbe, test("thermometer")), UsageError);
}

TEST(Selftest, PassesALinearTimer) {
    FakeBench bench;
    const auto result = bench.run(kProbe, test("timer"));
    const auto* linear = find_check(result, "timer is linear");
    ASSERT_NE(linear, nullptr);
    EXPECT_TRUE(linear->passed) << linear->detail;
    const auto metrics = kProbe.metrics(result);
    EXPECT_NEAR(find_metric(metrics, "one call")->value, 1e-3, 1e-9);
    EXPECT_NEAR(find_metric(metrics, "timer bias")->value, 0, 1e-12);
    EXPECT_NE(find_metric(metrics, "timer resolution"), nullptr);
    EXPECT_EQ(find_metric(metrics, "sampler cost"), nullptr);
    EXPECT_GE(result.launches.at(0).samples.at("8 calls").values.size(), 100U);
}

// A round times eight single calls, then two, four and eight; before the first there are the fill
// and six calls that tell how long one takes.
constexpr std::size_t kCallsOfARound = 8 + 2 + 4 + 8, kCallsBefore = 7;

std::function<double(std::size_t, double)> single_calls(double single, double others) {
    return [=](std::size_t call, double) {
        return call >= kCallsBefore && (call - kCallsBefore) % kCallsOfARound < 8 ? single : others;
    };
}

TEST(Selftest, FindsATimerThatIsNotLinear) {
    for (const auto& [single, passes] :
         {std::pair{1.02e-3, true}, {1.05e-3, false}, {0.95e-3, false}}) {
        FakeBench bench;
        bench.fake.script.seconds = single_calls(single, 1e-3);
        const auto result = bench.run(kProbe, test("timer"));
        EXPECT_EQ(find_check(result, "timer is linear")->passed, passes) << single;
    }
}

// Every third call takes longer: one call seldom does, eight always do.
TEST(Selftest, ANeighboursNoiseIsNoFaultOfTheTimer) {
    FakeBench bench;
    bench.fake.script.seconds = [](std::size_t call, double) {
        return call * 2654435761U % 97 < 30 ? 1.4e-3 : 1e-3;
    };
    const auto result = bench.run(kProbe, test("timer"));
    const auto* linear = find_check(result, "timer is linear");
    EXPECT_TRUE(linear->passed) << linear->detail;
    EXPECT_EQ(linear->detail.find("at try"), std::string::npos) << linear->detail;
}

TEST(Selftest, TakesOnlyWhatLastsForAFaultOfTheTimer) {
    FakeBench bench;
    const auto off = single_calls(0.9e-3, 1e-3);
    bench.fake.script.seconds = [&](std::size_t call, double at) {
        return call < kCallsOfARound * 150 ? off(call, at) : 1e-3;  // into the second try
    };
    const auto result = bench.run(kProbe, test("timer"));
    const auto* linear = find_check(result, "timer is linear");
    EXPECT_TRUE(linear->passed) << linear->detail;
    EXPECT_NE(linear->detail.find("at try 2"), std::string::npos) << linear->detail;
}

TEST(Selftest, TheCheckerPassesARightProductAndFindsAWrongElement) {
    FakeBench bench;
    const auto result = bench.run(kProbe, test("checker"));
    ASSERT_EQ(result.checks.size(), 2U);
    for (const auto& check : result.checks) EXPECT_TRUE(check.passed) << check.name;
}

TEST(Selftest, TheCheckerFailsWhereTheDeviceMultipliesWrongly) {
    FakeBench bench;
    bench.fake.script.wrong_by = 1e-3;
    const auto result = bench.run(kProbe, test("checker"));
    EXPECT_FALSE(find_check(result, "right product passes")->passed);
}

// A filler that gives one element of normal bf16 another bit.
class WrongFill final : public ops::Fill {
  public:
    explicit WrongFill(device::FakeDevice& fake) : fake_(fake) {}
    void enqueue(device::Stream& stream, const work::FillSpec& spec, work::Type type,
                 std::uint64_t count, void* out) override {
        fake_.need<ops::Fill>().enqueue(stream, spec, type, count, out);
        if (type != work::Type::bf16 || spec.distribution != work::Distribution::normal) return;
        stream.synchronize();
        static_cast<unsigned char*>(out)[2 * count - 2] ^= 1U;
    }

  private:
    device::FakeDevice& fake_;
};

TEST(Selftest, FindsAFillerThatGivesOtherBits) {
    FakeBench bench;
    WrongFill wrong(bench.fake);
    bench.device.patches["fill"] = &wrong;
    const auto result = bench.run(kProbe, test("filler"));
    EXPECT_EQ(result.checks.size(), work::all_types().size() * work::all_distributions().size());
    EXPECT_EQ(result.checks.size(), 50U);
    for (const auto& check : result.checks) {
        EXPECT_EQ(check.passed, check.name != "fill bf16 normal") << check.name;
    }
}

// A filler that drops the seed's upper word, as one that takes 32 bits would.
class NarrowFill final : public ops::Fill {
  public:
    explicit NarrowFill(device::FakeDevice& fake) : fake_(fake) {}
    void enqueue(device::Stream& stream, const work::FillSpec& spec, work::Type type,
                 std::uint64_t count, void* out) override {
        auto narrow = spec;
        narrow.seed &= 0xffffffffU;
        fake_.need<ops::Fill>().enqueue(stream, narrow, type, count, out);
    }

  private:
    device::FakeDevice& fake_;
};

TEST(Selftest, FindsAFillerThatDropsHalfOfTheSeed) {
    FakeBench bench;
    NarrowFill narrow(bench.fake);
    bench.device.patches["fill"] = &narrow;
    const auto result = bench.run(kProbe, test("filler"));
    EXPECT_FALSE(find_check(result, "fill fp8_e5m2 uniform")->passed);
    EXPECT_TRUE(find_check(result, "fill int8 zeros")->passed);
}

// A call is made long where the timer is coarse: an event of 2 us beside a pass of 1 us.
TEST(Selftest, TimesCallsThatTheTimerSeesWell) {
    FakeBench bench;
    HookedMemory memory(bench.fake, [&](auto& stream, auto& plain, const auto& operands) {
        const double seconds = 1e-6 * memory.requests.back().passes;
        bench.fake.script.seconds = [seconds](std::size_t, double) { return seconds; };
        plain.enqueue(stream, operands);
    });
    bench.device.patches["memory"] = &memory;
    bench.fake.script.event_s = 2e-6;
    const auto result = bench.run(kProbe, test("timer"));
    EXPECT_TRUE(find_check(result, "timer is linear")->passed)
        << find_check(result, "timer is linear")->detail;
    const int passes = memory.requests.back().passes;
    EXPECT_GE(passes, 200);
    EXPECT_LE(passes, 230);
    const auto metrics = kProbe.metrics(result);
    EXPECT_NE(find_metric(metrics, "one call")->definition.find(std::to_string(passes)),
              std::string::npos);
}

// Host time that moves on with every look at it.
class TickingClock final : public measure::Clock {
  public:
    double now() override { return now_ += 1e-6; }
    void sleep(double seconds) override { now_ += seconds; }

  private:
    double now_ = 100;
};

TEST(Selftest, TellsWhatASampleCostsTheHost) {
    FakeBench bench;
    TickingClock clock;
    Bench ticking{bench.device, clock, measure::boost(), 7};
    record::Result result;
    kProbe.run(test("sampler"), ticking, result);
    const auto metrics = kProbe.metrics(result);
    const auto* cost = find_metric(metrics, "sampler cost");
    ASSERT_NE(cost, nullptr);
    EXPECT_GT(cost->value, 0);
    EXPECT_LT(cost->value, 1e-6);  // the clock is looked at once a chunk, not once a sample
    EXPECT_EQ(cost->n, result.launches.at(0).samples.at("sampler").values.size());
}

}  // namespace
}  // namespace assay::probes
