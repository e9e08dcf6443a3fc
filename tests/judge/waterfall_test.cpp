#include "judge/waterfall.h"

#include <limits>
#include <random>

#include <gmock/gmock.h>

#include "judge/machines.h"

namespace assay::judge {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// A result whose calls take `cycles` at `mhz` after a gap, its samples off by some noise.
record::Result call(double cycles, double mhz, double gap_s = 0) {
    record::Result result;
    result.probe = "gemm";
    result.device = "cuda:0";
    result.what.set("m", 8192).set("dtype", "bf16");
    result.conditions.protocol = "boost";
    result.conditions.settings["gap_s"] = std::to_string(gap_s);
    std::mt19937 random(7);
    std::normal_distribution<double> noise(1, 0.01);
    record::Launch launch;
    launch.samples["time"].unit = "s";
    launch.samples["clock_mhz"].unit = "MHz";
    for (int i = 0; i < 200; ++i) {
        const double clock = mhz * noise(random);
        launch.samples["clock_mhz"].values.push_back(clock);
        launch.samples["time"].values.push_back(cycles * noise(random) / clock / 1e6 + gap_s);
    }
    result.launches = {launch};
    return result;
}

void expect_factors(const record::Result& before, const record::Result& after, double clock,
                    double cycles, double gaps) {
    const auto one = waterfall(before, after);
    ASSERT_TRUE(one);
    EXPECT_NEAR(one->clock, clock, 0.005);
    EXPECT_NEAR(one->cycles, cycles, 0.005);
    EXPECT_NEAR(one->gaps, gaps, 0.005);
    EXPECT_NEAR(one->clock * one->cycles * one->gaps, one->ratio, 1e-12);
}

TEST(Waterfall, FindsEachFactorAlone) {
    const auto base = call(2e6, 1800);
    expect_factors(base, base, 1, 1, 1);
    expect_factors(base, call(2e6, 1500), 1.2, 1, 1);
    expect_factors(base, call(2.2e6, 1800), 1, 1.1, 1);
    expect_factors(base, call(2e6, 1800, 2e6 / 1800e6 / 9), 1, 1, 10 / 9.0);
}

TEST(Waterfall, FactorsMultiplyToTheRatioWhateverDiffers) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> share(0.5, 2);
    for (int i = 0; i < 50; ++i) {
        const auto before = call(2e6 * share(random), 1800 * share(random), 1e-5 * share(random));
        const auto after = call(2e6 * share(random), 1800 * share(random), 1e-4 * share(random));
        const auto one = waterfall(before, after);
        ASSERT_TRUE(one);
        EXPECT_NEAR(one->clock * one->cycles * one->gaps / one->ratio, 1, 1e-12);
        const auto back = waterfall(after, before);
        EXPECT_NEAR(back->ratio * one->ratio, 1, 1e-12);
    }
}

TEST(Waterfall, PoolsLaunches) {
    auto after = call(2e6, 1500);
    after.launches.push_back(after.launches[0]);
    expect_factors(call(2e6, 1800), after, 1.2, 1, 1);
}

TEST(Waterfall, NamesTheCauseOfTheLowerClock) {
    const auto fast = call(2e6, 1800);
    auto slow = call(2e6, 1500);
    EXPECT_EQ(waterfall(fast, slow)->cause, Limit::other);
    slow.conditions.throttle_reasons = {"SW power cap"};
    EXPECT_EQ(waterfall(fast, slow)->cause, Limit::power);
    EXPECT_EQ(waterfall(slow, fast)->cause, Limit::power);
    slow.conditions.throttle_reasons = {"HW thermal slowdown"};
    EXPECT_EQ(waterfall(fast, slow)->cause, Limit::thermal);
    EXPECT_EQ(waterfall(slow, slow)->cause, Limit::none);
}

TEST(Waterfall, GapsCountOnlyWhereBothAreKnown) {
    const auto base = call(2e6, 1800, 1e-5);
    auto other = call(2e6, 1800, 1e-4);
    EXPECT_TRUE(waterfall(base, other)->gaps_known);
    for (const auto* gap : {"soon", "-1", ""}) {
        other.conditions.settings["gap_s"] = gap;
        EXPECT_FALSE(waterfall(base, other)->gaps_known) << gap;
        EXPECT_EQ(waterfall(base, other)->gaps, 1) << gap;
    }
    other.conditions.settings.erase("gap_s");
    EXPECT_FALSE(waterfall(base, other)->gaps_known);
}

TEST(Waterfall, NeedsAClockBesideEverySample) {
    const auto base = call(2e6, 1800);
    const auto with = [&](auto change) {
        auto other = base;
        change(other);
        return waterfall(base, other).has_value();
    };
    EXPECT_TRUE(with([](auto&) {}));
    EXPECT_FALSE(with([](auto& r) { r.launches[0].samples.erase("clock_mhz"); }));
    EXPECT_FALSE(with([](auto& r) { r.launches[0].samples["clock_mhz"].values.pop_back(); }));
    EXPECT_FALSE(with([](auto& r) {
        r.launches[0].samples["clock_mhz"].values[3] = std::numeric_limits<double>::quiet_NaN();
    }));
    EXPECT_FALSE(with([](auto& r) { r.launches[0].samples["time"].values[3] = 0; }));
    EXPECT_FALSE(with([](auto& r) { r.launches.clear(); }));
    EXPECT_FALSE(with([](auto& r) { r.launches.emplace_back(); }));
    EXPECT_FALSE(with([](auto& r) { r.conditions.settings["gap_s"] = "1"; }));
}

TEST(Waterfalls, PairSustainedWithBoostOfTheSameCase) {
    const auto run = h200_machine();
    const auto all = waterfalls(run);
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_EQ(all[0].result, &run.results[1]);
    EXPECT_EQ(all[0].of, "sustained");
    EXPECT_EQ(all[0].over, "boost");
    EXPECT_NEAR(all[0].ratio, 800.0 / 684, 1e-9);
    EXPECT_NEAR(all[0].clock, 1770.0 / 1495, 1e-9);
    EXPECT_NEAR(all[0].cycles, 800.0 / 684 * 1495 / 1770, 1e-9);
    EXPECT_EQ(all[0].cause, Limit::power);
    EXPECT_FALSE(all[0].gaps_known);
}

TEST(Waterfalls, LeaveOthersAlone) {
    auto run = h200_machine();
    run.results[0].device = "cuda:1";
    run.results[2].status = record::Status::failed;
    EXPECT_THAT(waterfalls(run), IsEmpty());
    EXPECT_THAT(waterfalls(good_machine()), IsEmpty());
}

record::Result by(const std::string& algorithm, const std::string& protocol, double cycles) {
    auto result = call(cycles, 1800);
    result.what.set("algorithm", algorithm, "heuristic");
    result.conditions.protocol = protocol;
    return result;
}

TEST(Waterfalls, PairAlgorithmsWithTheHeuristicUnderOneProtocol) {
    record::Run run;
    run.results = {by("tuned", "article", 1.8e6), by("heuristic", "article", 2e6),
                   by("tuned", "other", 1.8e6)};
    const auto all = waterfalls(run);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].result, &run.results[0]);
    EXPECT_EQ(all[0].of, "tuned");
    EXPECT_EQ(all[0].over, "heuristic");
    EXPECT_NEAR(all[0].cycles, 0.9, 0.005);
    run.results[1].what.set("m", 4096);
    EXPECT_THAT(waterfalls(run), IsEmpty());
}

TEST(Waterfalls, WithoutAHeuristicTheFirstAlgorithmIsTheBase) {
    record::Run run;
    run.results = {by("a", "boost", 2e6), by("b", "boost", 2.2e6)};
    const auto all = waterfalls(run);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].over, "a");
}

}  // namespace
}  // namespace assay::judge
