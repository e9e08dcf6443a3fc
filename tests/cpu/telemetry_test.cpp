#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cpu/cpu_telemetry.h"
#include "fixture_root.h"

namespace assay::cpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<Core> kTwoCores{{{0}, 0}, {{1}, 0}};

TEST(ClockMeter, SaysHowItReadsOrWhyNot) {
    EXPECT_FALSE(make_clock_meter()->source().empty());
}

TEST(ClockMeter, MultiplyChainReadsAClockThatAProcessorMayHave) {
    const auto meter = make_multiply_chain_meter();
    if (meter == nullptr) GTEST_SKIP() << "not x86";
    const double mhz = meter->read_mhz().value();
    EXPECT_GT(mhz, 300);
    EXPECT_LT(mhz, 10'000);
}

TEST(EnergyMeter, CounterGoesOnAfterItsRange) {
    WrappingCounter counter(1000);
    EXPECT_EQ(counter.add(900), 0);
    EXPECT_EQ(counter.add(950), 50);
    EXPECT_EQ(counter.add(20), 120);
    EXPECT_EQ(counter.add(30), 130);
}

TEST(EnergyMeter, ReadsPackageZonesThatMove) {
    FixtureRoot root;
    const auto set = [&](const char* microjoules) {
        root.file("sys/class/powercap/intel-rapl:0/energy_uj", microjoules);
    };
    root.file("sys/class/powercap/intel-rapl:0/name", "package-0\n")
        .file("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n")
        .file("sys/class/powercap/intel-rapl:0:0/name", "dram\n")
        .file("sys/class/powercap/intel-rapl:0:0/energy_uj", "5\n");
    set("1000000\n");
    const auto meter = make_energy_meter(root.path(), [&] { set("1000500\n"); });
    EXPECT_THAT(meter->source(), HasSubstr("powercap"));
    set("3000000\n");
    const double before = meter->read_joules().value();
    set("5500000\n");
    EXPECT_DOUBLE_EQ(meter->read_joules().value() - before, 2.5);
}

TEST(EnergyMeter, AStandingCounterIsNone) {
    FixtureRoot root;
    root.file("sys/class/powercap/intel-rapl:0/name", "package-0\n")
        .file("sys/class/powercap/intel-rapl:0/energy_uj", "0\n");
    const auto meter = make_energy_meter(root.path());
    EXPECT_EQ(meter->source(), "unavailable: the RAPL counter stands still");
    EXPECT_FALSE(meter->read_joules());
}

TEST(EnergyMeter, NoneAtAllHasAReason) {
    const FixtureRoot root;
    const auto meter = make_energy_meter(root.path());
    EXPECT_THAT(meter->source(), HasSubstr("unavailable: the system shows no RAPL"));
}

TEST(CpuTelemetry, CountsThrottlesOncePerPackageAndSaysWhatRose) {
    FixtureRoot root;
    for (const char* cpu : {"cpu0", "cpu1"}) {
        const std::string folder = std::string("sys/devices/system/cpu/") + cpu;
        root.file(folder + "/topology/physical_package_id", "0\n")
            .file(folder + "/thermal_throttle/core_throttle_count", "1\n")
            .file(folder + "/thermal_throttle/package_throttle_count", "10\n");
    }
    root.file("sys/class/hwmon/hwmon3/name", "coretemp\n")
        .file("sys/class/hwmon/hwmon3/temp1_input", "61000\n")
        .file("sys/class/hwmon/hwmon4/name", "nvme\n")
        .file("sys/class/hwmon/hwmon4/temp1_input", "99000\n");
    CpuTelemetry telemetry(kTwoCores, root.path());
    const auto reading = telemetry.read();
    EXPECT_EQ(reading.throttled_count, 12);
    EXPECT_EQ(reading.temperature_c, 61);
    EXPECT_FALSE(reading.energy_j);
    EXPECT_FALSE(reading.power_w);
    EXPECT_THAT(telemetry.throttle_reasons(), IsEmpty());

    root.file("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "2\n");
    EXPECT_EQ(telemetry.read().throttled_count, 13);
    EXPECT_THAT(telemetry.throttle_reasons(), ElementsAre("core thermal throttling"));
    EXPECT_THAT(telemetry.throttle_reasons(), IsEmpty()) << "told once";
}

TEST(CpuTelemetry, WithoutCountersLeavesThemEmpty) {
    const FixtureRoot root;
    CpuTelemetry telemetry(kTwoCores, root.path());
    const auto reading = telemetry.read();
    EXPECT_FALSE(reading.throttled_count);
    EXPECT_FALSE(reading.temperature_c);
    EXPECT_GT(reading.t, 0);
}

}  // namespace
}  // namespace assay::cpu
