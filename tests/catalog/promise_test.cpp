#include "catalog/promise.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/scratch.h"

namespace assay::catalog {
namespace {

using testing::HasSubstr;
using testing::Optional;

record::DeviceFacts ryzen_7950x() {
    record::DeviceFacts facts;
    facts.id = facts.kind = "cpu";
    facts.name = "AMD Ryzen 9 7950X 16-Core Processor";
    facts.vendor = "AuthenticAMD";
    facts.compute_units = facts.compute_units_total = 16;
    facts.max_clock_mhz = 5700;
    facts.max_clock_source = "cpufreq";
    facts.features = {"sse4_2", "avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16"};
    facts.facts = {{"family", "25"}, {"model", "97"}, {"stepping", "2"}, {"packages", "1"}};
    return facts;
}

record::DeviceFacts xeon(const std::string& model, const std::string& name) {
    record::DeviceFacts facts;
    facts.id = facts.kind = "cpu";
    facts.name = name;
    facts.vendor = "GenuineIntel";
    facts.compute_units = facts.compute_units_total = 2;
    facts.features = {"sse4_2",      "avx2",     "fma",      "avx512f",
                      "avx512_vnni", "amx_bf16", "amx_int8", "avx512_fp16"};
    facts.facts = {{"family", "6"}, {"model", model}, {"packages", "1"}};
    return facts;
}

record::DeviceFacts without_matrix_unit(record::DeviceFacts facts) {
    std::erase_if(facts.features, [](const auto& feature) { return feature.starts_with("amx"); });
    return facts;
}

TEST(Promise, Zen4DesktopHasTwoFmaPipesOf256Bits) {
    const auto p = promises(ryzen_7950x());
    EXPECT_EQ(p.model, "Ryzen 7000");
    EXPECT_THAT(p.flop_per_cycle.at("fp32").value, Optional(16 * 32.0));
    EXPECT_THAT(p.flop_per_cycle.at("fp64").value, Optional(16 * 16.0));
    EXPECT_THAT(p.flop_per_cycle.at("bf16").value, Optional(16 * 64.0));
    EXPECT_THAT(p.peak.at("fp32").value, Optional(16 * 32 * 5.7e9));
    EXPECT_THAT(p.flop_per_cycle.at("fp32").basis, HasSubstr("AMD Software Optimization Guide"));
    EXPECT_THAT(p.peak.at("fp32").basis, HasSubstr("5700 MHz (cpufreq)"));
}

TEST(Promise, AmxGivesSixteenTimesTheRateOfFp32) {
    const auto p = promises(xeon("207", "Intel(R) Xeon(R) Platinum 8581C"));
    EXPECT_EQ(p.model, "Emerald Rapids");
    EXPECT_THAT(p.flop_per_cycle.at("fp32").value, Optional(2 * 64.0));
    EXPECT_THAT(p.flop_per_cycle.at("bf16").value, Optional(2 * 1024.0));
    EXPECT_THAT(p.flop_per_cycle.at("int8").value, Optional(2 * 2048.0));
    EXPECT_THAT(p.flop_per_cycle.at("bf16").basis, HasSubstr("amx_bf16"));
}

// As on a virtual machine that is told another processor's model than its host's.
TEST(Promise, AMatrixUnitThatTheNamedCoresLackGivesADisguiseAway) {
    const auto facts = xeon("167", "Intel(R) Xeon(R) Processor");
    const auto p = promises(facts);
    EXPECT_EQ(p.model, "");
    EXPECT_EQ(p.flop_per_cycle.at("int8").value, std::nullopt);
    EXPECT_THAT(p.flop_per_cycle.at("int8").basis, HasSubstr("Rocket Lake"));
    EXPECT_THAT(p.flop_per_cycle.at("int8").basis, HasSubstr("amx_bf16"));
    EXPECT_EQ(promises(without_matrix_unit(facts)).model, "Rocket Lake");
}

TEST(Promise, CountsOnlyInstructionSetsThatTheDeviceHas) {
    auto facts = xeon("207", "Intel(R) Xeon(R) Platinum 8581C");
    facts.features = {"sse4_2", "avx2", "fma"};
    const auto p = promises(facts);
    EXPECT_THAT(p.flop_per_cycle.at("fp32").value, Optional(2 * 32.0));
    EXPECT_FALSE(p.flop_per_cycle.at("bf16").value);
    EXPECT_THAT(p.flop_per_cycle.at("bf16").basis, HasSubstr("no bf16 rate of golden-cove-server"));
    facts.features = {"sse4_2"};
    EXPECT_FALSE(promises(facts).flop_per_cycle.at("fp32").value);
}

TEST(Promise, PeakIsUnknownWithoutAHighestClock) {
    auto facts = ryzen_7950x();
    facts.max_clock_mhz.reset();
    facts.max_clock_source = "no cpufreq";
    const auto p = promises(facts);
    EXPECT_TRUE(p.flop_per_cycle.at("fp32").value);
    EXPECT_FALSE(p.peak.at("fp32").value);
    EXPECT_EQ(p.peak.at("fp32").basis, "highest clock: no cpufreq");
}

TEST(Promise, CountsCoresOfTwoKindsApart) {
    auto facts = without_matrix_unit(xeon("151", "12th Gen Intel(R) Core(TM) i9-12900K"));
    facts.compute_units = facts.compute_units_total = 16;
    EXPECT_FALSE(promises(facts).flop_per_cycle.at("fp32").value);
    EXPECT_THAT(promises(facts).flop_per_cycle.at("fp32").basis,
                HasSubstr("mixes golden-cove-client and gracemont cores"));
    facts.facts["performance_cores"] = facts.facts["efficiency_cores"] = "8";
    EXPECT_THAT(promises(facts).flop_per_cycle.at("fp32").value, Optional(8 * 32 + 8 * 16.0));
    facts.facts["efficiency_cores"] = "0";
    EXPECT_THAT(promises(facts).flop_per_cycle.at("fp32").value, Optional(8 * 32.0));
}

TEST(Promise, BandwidthIsChannelsTimesSpeedInUse) {
    auto facts = ryzen_7950x();
    EXPECT_THAT(promises(facts).bandwidth.value, Optional(2 * 5200e6 * 8));
    EXPECT_THAT(promises(facts).bandwidth.basis, HasSubstr("the speed in use can't be read"));
    facts.facts["memory_speed_mts"] = "6000";
    facts.facts["memory_channels"] = "1";
    const auto p = promises(facts);
    EXPECT_THAT(p.bandwidth.value, Optional(2 * 6000e6 * 8));
    EXPECT_THAT(p.bandwidth.basis, HasSubstr("6000 MT/s (as set)"));
    EXPECT_THAT(p.channels, Optional(2));
    EXPECT_THAT(p.channels_populated, Optional(1));
}

TEST(Promise, BandwidthCountsEverySocket) {
    auto facts = xeon("143", "Intel(R) Xeon(R) Platinum 8480+");
    facts.facts["packages"] = "2";
    const auto p = promises(facts);
    EXPECT_THAT(p.channels, Optional(16));
    EXPECT_THAT(p.bandwidth.value, Optional(16 * 4800e6 * 8));
    facts.facts.erase("packages");
    EXPECT_FALSE(promises(facts).bandwidth.value);
    EXPECT_EQ(promises(facts).bandwidth.basis, "the number of sockets can't be read");
}

TEST(Promise, BandwidthIsUnknownForAShareOfAMachine) {
    auto facts = ryzen_7950x();
    facts.compute_units = 4;
    EXPECT_FALSE(promises(facts).bandwidth.value);
    EXPECT_EQ(promises(facts).bandwidth.basis, "this process may use 4 of 16 cores");
    facts.virtual_machine = true;
    facts.facts["memory_channels"] = "1";
    const auto p = promises(facts);
    EXPECT_FALSE(p.bandwidth.value);
    EXPECT_EQ(p.bandwidth.basis, "a virtual machine sees part of the memory of its host");
    EXPECT_FALSE(p.channels);
    EXPECT_FALSE(p.channels_populated);
}

TEST(Promise, BandwidthIsUnknownWhereTheModelDoesntTellIt) {
    const auto p = promises(without_matrix_unit(xeon("108", "Intel(R) Xeon(R) D-2796NT")));
    EXPECT_EQ(p.model, "Ice Lake-D");
    EXPECT_FALSE(p.bandwidth.value);
    EXPECT_THAT(p.bandwidth.basis, HasSubstr("isn't in data/processors.toml"));
}

void expect_all_unknown(const Promises& p, const std::string& reason) {
    EXPECT_EQ(p.model, "");
    EXPECT_TRUE(p.flop_per_cycle.contains("fp32"));
    for (const auto* by_type : {&p.flop_per_cycle, &p.peak}) {
        for (const auto& [type, promise] : *by_type) {
            EXPECT_FALSE(promise.value) << type;
            EXPECT_THAT(promise.basis, HasSubstr(reason)) << type;
        }
    }
    EXPECT_FALSE(p.bandwidth.value);
    EXPECT_THAT(p.bandwidth.basis, HasSubstr(reason));
}

TEST(Promise, EverythingOfAnUnknownDeviceIsUnknownAndSaysWhy) {
    auto facts = ryzen_7950x();
    facts.facts["model"] = "250";
    expect_all_unknown(promises(facts),
                       "family 25 model 250 of AuthenticAMD isn't in data/processors.toml");
    facts.facts.erase("model");
    expect_all_unknown(promises(facts), "the processor's family and model can't be read");
    facts.kind = "npu";
    expect_all_unknown(promises(facts), "no data on npu devices");
}

TEST(Promise, ABrokenFileMakesPromisesUnknownAndIsNamed) {
    Scratch scratch;
    write_file(scratch / "processors.toml", "[[processor]]\nname = 3\n");
    ASSERT_EQ(::setenv("ASSAY_DATA_DIR", scratch.path().c_str(), 1), 0);
    expect_all_unknown(promises(ryzen_7950x()), "processors.toml:1:1: \"core\" is missing");
    ::unsetenv("ASSAY_DATA_DIR");
}

}  // namespace
}  // namespace assay::catalog
