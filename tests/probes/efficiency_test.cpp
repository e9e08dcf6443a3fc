#include "probes/efficiency.h"

#include <cmath>

#include <gtest/gtest.h>

#include "probes/fake_bench.h"
#include "probes/gemm.h"

namespace assay::probes {
namespace {

record::Launch launch(const std::vector<double>& seconds, const std::vector<double>& mhz) {
    record::Launch launch;
    launch.samples["time"] = {"s", seconds};
    launch.samples["clock_mhz"] = {"MHz", mhz};
    return launch;
}

TEST(Efficiency, WorkByTheCycleIsThatOfOneUnitWhateverTheClock) {
    record::Result result;
    result.conditions.compute_units = 132;
    // 1e6 cycles each: 1 GHz for 1 ms, 2 GHz for half of it.
    result.launches = {launch({1e-3, 0.5e-3, 7}, {1000, 2000, std::nan("")}),
                       launch({0.8e-3}, {1250})};
    const auto metrics = efficiency_metrics(result, 132e9);
    ASSERT_EQ(metrics.size(), 1U);
    EXPECT_EQ(metrics[0].name, "flop_per_cycle");
    EXPECT_EQ(metrics[0].unit, "FLOP/cycle");
    EXPECT_EQ(metrics[0].better, record::Better::higher);
    EXPECT_NEAR(metrics[0].value, 1000, 1e-6);
    EXPECT_EQ(metrics[0].n, 3U);
    EXPECT_TRUE(metrics[0].interval.has_value());
}

TEST(Efficiency, WhatIsUnknownHasNoMetric) {
    record::Result result;
    EXPECT_TRUE(efficiency_metrics(result, 1e9).empty());
    result.launches = {launch({1e-3}, {1000})};
    EXPECT_TRUE(efficiency_metrics(result, 1e9).empty()) << "how many units?";
    result.conditions.compute_units = 4;
    result.launches = {launch({1e-3}, {std::nan("")})};
    EXPECT_TRUE(efficiency_metrics(result, 1e9).empty());
    result.launches[0].samples.erase("clock_mhz");
    EXPECT_TRUE(efficiency_metrics(result, 1e9).empty());
}

TEST(Efficiency, WorkByTheJouleIsOfOneCall) {
    record::Result result;
    result.conditions.energy_per_call_j = 0.5;
    const auto metrics = efficiency_metrics(result, 1e12);
    ASSERT_EQ(metrics.size(), 1U);
    EXPECT_EQ(metrics[0].name, "flop_per_joule");
    EXPECT_EQ(metrics[0].unit, "GFLOP/J");
    EXPECT_NEAR(metrics[0].value, 2000, 1e-9);
}

TEST(Efficiency, StandsBesideTheRateOfAProduct) {
    const GemmProbe probe;
    FakeBench bench;
    bench.bench.protocol = measure::sustained();
    bench.fake.script.clock_mhz = [](double) { return 1500; };
    bench.fake.script.reading = [](double time) {
        device::Reading reading;
        reading.energy_j = 100 * time;
        return reading;
    };
    const auto cases = probe.expand(options_of(probe, {{"shapes", "3x5x7"}}), {});
    const auto result = bench.run(probe, cases.at(0));
    const auto metrics = probe.metrics(result);
    ASSERT_NE(find_metric(metrics, "flop_per_cycle"), nullptr);
    EXPECT_NEAR(find_metric(metrics, "flop_per_cycle")->value, 210 / (1e-3 * 1.5e9 * 4), 1e-9);
    ASSERT_NE(find_metric(metrics, "flop_per_joule"), nullptr);
    EXPECT_NEAR(find_metric(metrics, "flop_per_joule")->value, 210 / 0.1 / 1e9, 1e-12);
}

}  // namespace
}  // namespace assay::probes
