#include "probes/sampled.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "measure/stream_subject.h"
#include "ops/fill.h"
#include "probes/fake_bench.h"

namespace assay::probes {
namespace {

// Samples a call of 1 ms.
record::Result sample(FakeBench& bench) {
    const auto buffer = bench.device.allocate(64, device::kAnyNode);
    measure::StreamSubject subject("fill", bench.device, [&](device::Stream& stream, std::size_t) {
        bench.device.need<ops::Fill>().enqueue(stream, {}, work::Type::fp32, 16, buffer->data());
    });
    record::Result result;
    sample_into(subject, bench.bench, 128, 2, result);
    return result;
}

TEST(Sampled, DescribesWhatRan) {
    ops::Implementation implementation{
        "oneDNN",         "libdnnl.so", "2.6.3", "brgemm", record::Path::emulated,
        "no native bf16", 4096,         8};
    record::Result result;
    FakeBench bench;
    std::string told;
    bench.bench.about_to_run = [&](const auto& one) { told = one.library; };
    describe(implementation, bench.bench, result);
    EXPECT_EQ(told, "oneDNN");
    EXPECT_EQ(result.path, record::Path::emulated);
    EXPECT_EQ(result.conditions.library, "oneDNN");
    EXPECT_EQ(result.conditions.library_file, "libdnnl.so");
    EXPECT_EQ(result.conditions.library_version, "2.6.3");
    EXPECT_EQ(result.conditions.algorithm, "brgemm");
    EXPECT_EQ(result.conditions.workspace_bytes, 4096U);
    EXPECT_EQ(result.conditions.threads, 8);
    EXPECT_EQ(result.conditions.settings.at("note"), "no native bf16");
    result.conditions.settings.clear();
    implementation.note.clear();
    bench.bench.about_to_run = {};
    describe(implementation, bench.bench, result);
    EXPECT_TRUE(result.conditions.settings.empty());
}

TEST(Sampled, KeepsSamplesAndSaysHowTheyWereTaken) {
    FakeBench bench;
    bench.bench.protocol = measure::sustained();
    const auto result = sample(bench);
    ASSERT_EQ(result.launches.size(), 1U);
    EXPECT_GT(result.launches[0].pid, 0);
    EXPECT_FALSE(result.launches[0].started.empty());
    for (const double value : result.launches[0].samples.at("time").values) {
        EXPECT_NEAR(value, 1e-3, 1e-9);
    }
    EXPECT_EQ(result.conditions.protocol, "sustained");
    EXPECT_EQ(result.conditions.stop_reason, "precise");
    EXPECT_EQ(result.conditions.calls_per_sample, 1);
    EXPECT_EQ(result.conditions.settled, true);
    EXPECT_GE(result.conditions.settle_s.value(), 1.5);
    EXPECT_EQ(result.conditions.footprint_bytes, 128U);
    EXPECT_EQ(result.conditions.operand_sets, 2);
}

TEST(Sampled, EverySampleOfABenchSettles) {
    FakeBench bench;
    bench.bench.protocol = measure::sustained();
    sample(bench);
    EXPECT_GE(sample(bench).conditions.settle_s.value(), 1.5);
}

TEST(Sampled, PutsTelemetryBesideTheSamples) {
    FakeBench bench;
    bench.bench.protocol = measure::sustained();
    bench.fake.script.throttle_reasons = {"power cap"};
    const double start = bench.fake.now();
    bench.fake.script.reading = [&, reading = 0](double time) mutable {
        device::Reading now;
        now.clock_mhz = 2000;
        if (++reading % 2 == 1) now.temperature_c = 60;
        now.energy_j = 50 * (time - start);
        return now;
    };
    const auto result = sample(bench);
    const auto& telemetry = result.launches.at(0).telemetry;
    const auto readings = telemetry.at("t").size();
    EXPECT_GE(readings, 2U);
    EXPECT_EQ(telemetry.at("clock_mhz").size(), readings);
    ASSERT_EQ(telemetry.at("temperature_c").size(), readings);
    EXPECT_TRUE(std::isnan(telemetry.at("temperature_c")[1]));
    EXPECT_FALSE(telemetry.contains("power_w"));
    EXPECT_EQ(result.conditions.clock_mhz, 2000);
    EXPECT_EQ(result.conditions.temperature_c, 60);
    EXPECT_NEAR(result.conditions.power_w.value(), 50, 1e-6);  // from the energy
    EXPECT_NEAR(result.conditions.energy_per_call_j.value(), 0.05, 1e-6);
    EXPECT_EQ(result.conditions.throttle_reasons, (std::vector<std::string>{"power cap"}));
    EXPECT_EQ(result.conditions.clock_source, "script");
}

TEST(Sampled, WhatIdlesOrClearsBetweenCallsHasNoEnergyOfACall) {
    for (const auto& protocol : {measure::boost(), measure::article()}) {
        FakeBench bench;
        bench.bench.protocol = protocol;
        bench.fake.script.reading = [](double time) {
            device::Reading now;
            now.energy_j = 50 * time;
            return now;
        };
        const auto result = sample(bench);
        EXPECT_TRUE(result.conditions.power_w.has_value()) << protocol.name;
        EXPECT_FALSE(result.conditions.energy_per_call_j.has_value()) << protocol.name;
        EXPECT_NE(result.conditions.settings.at("energy").find(
                      protocol.burst_samples > 0 ? "bursts" : "cleared"),
                  std::string::npos);
    }
}

TEST(Sampled, StampedClocksStandBesideTheSamplesAndPassBeforeTelemetry) {
    FakeBench bench;
    bench.bench.protocol = measure::sustained();
    bench.fake.script.clock_mhz = [](double) { return 1770; };
    bench.fake.script.reading = [](double) {
        device::Reading now;
        now.clock_mhz = 1980;
        return now;
    };
    const auto result = sample(bench);
    const auto& samples = result.launches.at(0).samples;
    ASSERT_EQ(samples.at("clock_mhz").values.size(), samples.at("time").values.size());
    EXPECT_EQ(samples.at("clock_mhz").unit, "MHz");
    for (const double mhz : samples.at("clock_mhz").values) EXPECT_EQ(mhz, 1770);
    for (const double seconds : samples.at("time").values) EXPECT_NEAR(seconds, 1e-3, 1e-9);
    EXPECT_EQ(result.conditions.clock_mhz, 1770);
    EXPECT_EQ(result.conditions.clock_source, "stamps: cycles over time beside each sample");
    EXPECT_EQ(result.launches[0].telemetry.at("clock_mhz").at(0), 1980);
    EXPECT_EQ(result.conditions.compute_units, 4);
}

TEST(Sampled, StampsThatTellNothingLeaveTheTelemetrysClock) {
    FakeBench bench;
    bench.fake.script.clock_mhz = [](double) { return std::nan(""); };
    bench.fake.script.reading = [](double) {
        device::Reading now;
        now.clock_mhz = 1980;
        return now;
    };
    const auto conditions = sample(bench).conditions;
    EXPECT_EQ(conditions.clock_mhz, 1980);
    EXPECT_EQ(conditions.clock_source, "script");
}

TEST(Sampled, TheGapBetweenCallsIsWhatAnEventTakesOverTheCallsOfASample) {
    for (const double call_s : {1e-3, 2e-5}) {
        FakeBench bench;
        bench.bench.protocol = measure::sustained();
        bench.fake.script.event_s = 1e-6;
        bench.fake.script.seconds = [=](std::size_t, double) { return call_s; };
        const auto conditions = sample(bench).conditions;
        EXPECT_EQ(conditions.calls_per_sample > 1, call_s < 1e-4);
        EXPECT_NEAR(parse_number(conditions.settings.at("gap_s"), "gap_s"),
                    1e-6 / conditions.calls_per_sample, 1e-12);
    }
    FakeBench bench;  // whose events take no time
    EXPECT_FALSE(sample(bench).conditions.settings.contains("gap_s"));
}

TEST(Sampled, WithoutTelemetryTheConditionsStayUnknown) {
    FakeBench bench;
    const auto conditions = sample(bench).conditions;
    EXPECT_FALSE(conditions.clock_mhz.has_value());
    EXPECT_FALSE(conditions.power_w.has_value());
    EXPECT_FALSE(conditions.energy_per_call_j.has_value());
    EXPECT_FALSE(conditions.temperature_c.has_value());
}

TEST(Sampled, AnInterruptionBeforeTheFirstSampleIsThrown) {
    FakeBench bench;
    set_interrupted(true);
    EXPECT_THROW(sample(bench), Interrupted);
    set_interrupted(false);
}

}  // namespace
}  // namespace assay::probes
