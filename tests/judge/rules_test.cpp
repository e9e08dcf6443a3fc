#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include <gmock/gmock.h>

#include "judge/findings.h"
#include "judge/machines.h"
#include "judge/rule.h"

namespace assay::judge {
namespace {

using record::Finding;
using record::Severity;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

record::Result& fp32(record::Run& run) {
    return result_of(run, "gemm", "fp32");
}

TEST(Rules, HaveIdsOfTheirOwnAndSayWhatTheyFind) {
    std::set<std::string_view> ids;
    for (const auto& rule : rules()) {
        EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
        EXPECT_FALSE(rule.finds.empty()) << rule.id;
    }
    EXPECT_EQ(ids.size(), 20U);
}

TEST(Rules, FindNothingInACleanRun) {
    EXPECT_THAT(findings_in(good_machine()), IsEmpty());
}

TEST(NothingMeasured, IsAnErrorEvenWhereTheSelftestRan) {
    auto run = good_machine();
    for (auto& result : run.results) {
        if (result.probe == "selftest") continue;
        result.status = record::Status::skipped;
        result.reason = "no oneDNN";
    }
    expect_only(run, "nothing-measured", Severity::error, "skipped: no oneDNN");
    fp32(run).status = record::Status::ok;
    EXPECT_THAT(findings_in(run), IsEmpty());
}

TEST(NothingMeasured, IsAnErrorWithoutAnyCase) {
    auto run = good_machine();
    run.results.clear();
    expect_only(run, "nothing-measured", Severity::error, "no case was run");
}

TEST(NothingMeasured, ASelftestAloneIsFine) {
    auto run = good_machine();
    run.results.resize(1);
    ASSERT_EQ(run.results[0].probe, "selftest");
    EXPECT_THAT(findings_in(run), IsEmpty());
}

TEST(WrongAnswer, IsOneErrorForAllCasesAndNotAFailedCaseToo) {
    auto run = good_machine();
    for (const auto* type : {"fp32", "bf16"}) {
        auto& result = result_of(run, "gemm", type);
        result.status = record::Status::failed;
        result.checks = {{"answer", false, "element 3 is 1, expected 2"}};
        result.metrics.clear();
    }
    expect_only(run, "wrong-answer", Severity::error, "dtype=bf16: answer: element 3 is 1");
    EXPECT_EQ(findings_in(run)[0].message, "2 checks found a wrong answer");
}

TEST(WrongAlgorithm, IsAnErrorThoughTheCaseIsFine) {
    auto run = good_machine();
    fp32(run).conditions.library = "cuBLASLt";
    fp32(run).conditions.library_version = "13.1";
    fp32(run).conditions.settings["wrong algorithms"] = "algo=66: element (0, 0) is 1, expected 2";
    expect_only(run, "wrong-algorithm", Severity::error,
                "dtype=fp32: cuBLASLt 13.1: algo=66: element (0, 0) is 1");
}

TEST(MemoryKept, IsAnErrorAndNoWrongAnswer) {
    auto run = good_machine();
    auto& result = fp32(run);
    result.checks = {{"memory returned", true, "1 GiB held before tuning, 1 GiB after it"}};
    EXPECT_THAT(findings_in(run), IsEmpty());
    result.status = record::Status::failed;
    result.checks = {{"memory returned", false, "1 GiB held before tuning, 26 GiB after it"}};
    result.metrics.clear();
    expect_only(run, "memory-kept", Severity::error, "26 GiB after it");
}

TEST(SelftestFailed, IsAnErrorOfItsOwn) {
    auto run = good_machine();
    result_of(run, "selftest", "timer").checks[0].passed = false;
    expect_only(run, "selftest-failed", Severity::error, "timer is linear: 8 calls");
}

TEST(FailedCase, NamesTheReason) {
    auto run = good_machine();
    fp32(run).status = record::Status::failed;
    fp32(run).reason = "the child was killed by SIGSEGV";
    fp32(run).checks.clear();
    expect_only(run, "failed-case", Severity::error, "the child was killed by SIGSEGV");
}

TEST(NoValue, FindsNanZeroAndInfiniteSpeeds) {
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), 0.0, std::numeric_limits<double>::infinity()}) {
        auto run = good_machine();
        fp32(run).metrics[0].value = value;
        expect_only(run, "no-value", Severity::error, "throughput");
    }
}

TEST(NoValue, AZeroCountIsAValue) {
    auto run = good_machine();
    auto cliffs = fp32(run).metrics[0];
    cliffs.name = "cliffs";
    cliffs.value = 0;
    fp32(run).metrics.push_back(cliffs);
    EXPECT_THAT(findings_in(run), IsEmpty());
}

// 32 cores x 32 FLOP/cycle x 3.8 GHz = 3.891 TFLOP/s.
TEST(AbovePeak, IsFoundMoreThanOnePercentAboveTheHighestClock) {
    auto run = good_machine();
    fp32(run).metrics[0].value = 3.92;
    EXPECT_THAT(findings_in(run), IsEmpty());
    fp32(run).metrics[0].value = 3.94;
    expect_only(run, "above-peak", Severity::error, "3.940 TFLOP/s");
}

TEST(AbovePeak, TakesTheClockSeenWhereItIsHigher) {
    auto run = good_machine();
    fp32(run).metrics[0].value = 3.94;
    fp32(run).launches[0].telemetry["clock_mhz"][3] = 3900;
    EXPECT_THAT(findings_in(run), IsEmpty());
    run.provenance.devices[0].max_clock_mhz.reset();
    EXPECT_THAT(findings_in(run), IsEmpty());
    fp32(run).metrics[0].value = 4.1;
    expect_only(run, "above-peak", Severity::error, "the highest clock allows 3.994");
}

TEST(AbovePeak, IsSilentWithoutAnyClock) {
    auto run = good_machine();
    run.provenance.devices[0].max_clock_mhz.reset();
    fp32(run).metrics[0].value = 400;
    fp32(run).launches[0].telemetry.clear();
    fp32(run).conditions.clock_mhz.reset();
    fp32(run).conditions.clock_source.clear();
    EXPECT_THAT(findings_in(run), IsEmpty());
}

// 12 x 4800 MT/s x 8 bytes = 460.8 GB/s.
TEST(AboveDatasheet, WarnsOfMemoryFasterThanItsChannels) {
    auto run = good_machine();
    result_of(run, "memory", "copy").metrics[0].value = 480;
    expect_only(run, "above-datasheet", Severity::warning, "480.0 GB/s of at most 460.8 GB/s");
}

TEST(BelowPromise, NamesEmptyChannelsWithoutAnyBandwidth) {
    auto run = good_machine();
    run.provenance.devices[0].facts["memory_channels"] = "10";
    expect_only(run, "below-promise", Severity::warning, "10 of 12 memory channels have a module");
}

void set_memory(record::Run& run, double rate) {
    for (auto& result : run.results) {
        if (result.probe == "memory") result.metrics[0].value = rate;
    }
}

TEST(BelowPromise, IsFoundUnder55PercentOfTheChannels) {
    auto run = good_machine();
    run.provenance.devices[0].facts.erase("memory_channels");
    set_memory(run, 254);
    EXPECT_THAT(findings_in(run), IsEmpty());
    set_memory(run, 250);
    expect_only(run, "below-promise", Severity::warning, "250.0 GB/s at best, 54 % of 460.8 GB/s");
}

TEST(BelowPromise, TheBestKernelCounts) {
    auto run = good_machine();
    set_memory(run, 100);
    result_of(run, "memory", "triad").metrics[0].value = 300;
    EXPECT_THAT(findings_in(run), IsEmpty());
}

TEST(BelowPromise, FewCoresCantFillManyChannels) {
    auto run = good_machine();
    auto& facts = run.provenance.devices[0];
    facts.compute_units = facts.compute_units_total = 16;
    set_memory(run, 200);
    for (const auto* type : {"fp32", "bf16", "int8"}) {
        result_of(run, "gemm", type).metrics[0].value /= 2;
    }
    EXPECT_THAT(findings_in(run), IsEmpty());
}

TEST(BelowPromise, CachesAndOtherNodesDontCount) {
    auto run = good_machine();
    set_memory(run, 200);
    for (auto& result : run.results) {
        if (result.probe == "memory") result.conditions.footprint_bytes = 1 << 20;
    }
    EXPECT_THAT(findings_in(run), IsEmpty());
    for (auto& result : run.results) {
        if (result.probe != "memory") continue;
        result.conditions.footprint_bytes = std::uint64_t{1} << 32;
        result.what.set("nodes", "0->1", "local");
    }
    EXPECT_THAT(findings_in(run), IsEmpty());
}

TEST(Throttled, IsFoundByReasonEventsOrClock) {
    auto run = good_machine();
    fp32(run).conditions.throttle_reasons = {"power limit"};
    expect_only(run, "throttled", Severity::warning, "limited by power limit");

    run = good_machine();
    fp32(run).launches[0].telemetry["throttled_count"].back() = 8;
    expect_only(run, "throttled", Severity::warning, "3 throttle events");

    run = good_machine();
    fp32(run).launches[0].telemetry["clock_mhz"] = {3600, 3600, 3500, 3000, 2800, 2700, 2600, 2600};
    expect_only(run, "throttled", Severity::warning, "the clock fell from 3600 to 2600 MHz");

    run = good_machine();
    fp32(run).conditions.clock_mhz = 1800;
    expect_only(run, "throttled", Severity::warning, "the clock was 1800 of at most 3800 MHz");
}

TEST(Throttled, AFewReadingsOrASmallFallAreNoSign) {
    auto run = good_machine();
    fp32(run).launches[0].telemetry["clock_mhz"] = {3600, 2000};
    EXPECT_THAT(findings_in(run), IsEmpty());
    fp32(run).launches[0].telemetry["clock_mhz"] = {3600, 3600, 3400, 3300, 3200, 3000, 2900, 2900};
    EXPECT_THAT(findings_in(run), IsEmpty());
}

TEST(Throttled, LostReadingsAreLeftOut) {
    auto run = good_machine();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    fp32(run).launches[0].telemetry["throttled_count"] = {nan, 5, 5, nan};
    EXPECT_THAT(findings_in(run), IsEmpty());
}

// 132 SMs x 4096 FLOP/cycle x 1980 MHz = 1070.5 TFLOP/s.
TEST(Accelerator, AboveItsHighestClockIsAnErrorAndNamesTheFile) {
    auto run = h200_machine();
    result_of(run, "gemm", "bf16").metrics[0].value = 1090;
    const auto findings = findings_in(run);
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings[0].rule, "above-peak");
    EXPECT_EQ(findings[0].severity, Severity::error);
    EXPECT_THAT(findings[0].evidence[0], HasSubstr("the highest clock allows 1071"));
    EXPECT_THAT(findings[0].advice, HasSubstr("the device does more than data/accelerators.toml"));
    run = good_machine();
    fp32(run).metrics[0].value = 5;
    EXPECT_THAT(findings_in(run)[0].advice,
                HasSubstr("the processor does more than data/processors.toml"));
}

std::vector<std::string> rules_of(const record::Run& run) {
    std::vector<std::string> ids;
    for (const auto& finding : findings_in(run)) ids.push_back(finding.rule);
    return ids;
}

TEST(Accelerator, BetweenTheTwoPeaksIsFlagged) {
    auto run = h200_machine();
    result_of(run, "gemm", "bf16").metrics[0].value = 995;  // within 1 % of 989
    EXPECT_THAT(rules_of(run), Not(Contains("above-datasheet")));
    result_of(run, "gemm", "bf16").metrics[0].value = 1010;
    const auto findings = findings_in(run);
    EXPECT_EQ(findings[0].rule, "above-datasheet");
    EXPECT_EQ(findings[0].severity, Severity::warning);
    EXPECT_THAT(findings[0].evidence[0], HasSubstr("1010 TFLOP/s of at most 989.0 TFLOP/s: "));
    EXPECT_EQ(findings[0].message, "1 case above the device's datasheet");
    EXPECT_THAT(rules_of(run), Not(Contains("above-peak")));
}

TEST(Accelerator, MemoryHasTwoPeaksToo) {
    auto run = h200_machine();
    result_of(run, "memory", "read").metrics[0].value = 4860;  // 4800, 4917
    EXPECT_EQ(findings_in(run)[0].rule, "above-datasheet");
    EXPECT_EQ(findings_in(run)[0].message, "1 case above the memory's datasheet");
    result_of(run, "memory", "read").metrics[0].value = 4980;
    EXPECT_EQ(findings_in(run)[0].rule, "above-peak");
    EXPECT_THAT(findings_in(run)[0].evidence[0], HasSubstr("the memory's clock allows 4917"));
}

TEST(Accelerator, SlowMemoryIsFoundWithAdviceForADevice) {
    auto run = h200_machine();
    for (const auto* op : {"read", "copy"}) result_of(run, "memory", op).metrics[0].value = 2500;
    EXPECT_EQ(findings_in(run)[0].rule, "below-promise");
    EXPECT_EQ(findings_in(run)[0].message, "device memory is far below its promise");
    EXPECT_THAT(findings_in(run)[0].advice, Not(HasSubstr("module")));
}

TEST(Accelerator, AtItsPowerLimitIsANoteAndHotAWarning) {
    auto run = h200_machine();
    auto findings = findings_in(run);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].severity, Severity::note);
    EXPECT_EQ(findings[0].message, "2 cases ran at the device's power limit");
    result_of(run, "gemm", "bf16").conditions.throttle_reasons = {"HW thermal slowdown"};
    findings = findings_in(run);
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0].severity, Severity::warning);
    EXPECT_THAT(findings[0].advice, Not(HasSubstr("RAPL")));
}

TEST(Accelerator, WithoutTelemetryAsksForItsOwnLibrary) {
    auto run = h200_machine();
    auto& conditions = result_of(run, "memory", "read").conditions;
    conditions.power_w.reset();
    conditions.power_source = "unavailable: no NVML";
    const auto findings = findings_in(run);
    EXPECT_EQ(findings.back().rule, "no-telemetry");
    EXPECT_THAT(findings.back().advice, HasSubstr("NVML"));
}

TEST(BusyDevice, NamesTheProcessesThatHeldIt) {
    auto run = good_machine();
    fp32(run).conditions.settings["other_processes"] = "4711 (1.50 GiB)";
    expect_only(run, "busy-device", Severity::warning, "4711 (1.50 GiB)");
    fp32(run).conditions.settings["other_processes"] = "";
    EXPECT_THAT(findings_in(run), IsEmpty());
}

TEST(NotSteady, SaysHowFarTheTimesDrifted) {
    auto run = good_machine();
    fp32(run).metrics[0].steady = false;
    std::vector<double> times(400);
    std::iota(times.begin(), times.end(), 10000.0);  // 4 % from first to last
    fp32(run).launches[0].samples["time"] = {"s", times};
    expect_only(run, "not-steady", Severity::warning, "times rose by 3.9 %");
    std::ranges::reverse(fp32(run).launches[0].samples["time"].values);
    expect_only(run, "not-steady", Severity::warning, "times fell by 3.9 %");
    fp32(run).launches[0].samples.clear();
    expect_only(run, "not-steady", Severity::warning, "the times drift");
}

TEST(NotSteady, IsFoundWhereTheWarmUpNeverSettled) {
    auto run = good_machine();
    fp32(run).conditions.settled = false;
    expect_only(run, "not-steady", Severity::warning, "the warm-up ended before");
    fp32(run).conditions.settled = true;
    EXPECT_THAT(findings_in(run), IsEmpty());
}

TEST(UntrustedInterval, IsOneNoteForAllCases) {
    auto run = good_machine();
    for (auto& result : run.results) {
        for (auto& metric : result.metrics) {
            metric.trustworthy = false;
            metric.effective_n = 43;
        }
        result.conditions.stop_reason = "time limit";
    }
    expect_only(run, "untrusted-interval", Severity::note,
                "dtype=fp32: 400 samples worth 43 independent ones, ended by time limit");
    EXPECT_EQ(findings_in(run)[0].message, "7 cases with an interval not to be trusted");
}

TEST(Fallback, IsAWarningAndAnEmulationANote) {
    auto run = good_machine();
    fp32(run).path = record::Path::fallback;
    fp32(run).conditions.settings["note"] = "layout tt";
    expect_only(run, "fallback", Severity::warning, "oneDNN brgemm:avx512_core: layout tt");
    fp32(run).path = record::Path::emulated;
    expect_only(run, "fallback", Severity::note, "dtype=fp32: oneDNN");
    fp32(run).path = record::Path::portable;
    EXPECT_THAT(findings_in(run), IsEmpty());
}

TEST(PathParity, NamesThePathThatIsSurelyMoreThanFivePercentSlower) {
    auto run = good_machine();
    auto& result = fp32(run);
    result.what.set("parity", "entries");
    const auto ratio = [](const char* path, double lo, double hi) {
        record::Metric metric;
        metric.name = std::string("time ratio of ") + path;
        metric.value = (lo + hi) / 2;
        metric.interval = {lo, hi};
        metric.trustworthy = true;
        return metric;
    };
    result.metrics = {ratio("lt", 1, 1), ratio("ex", 1.04, 1.08)};
    EXPECT_THAT(findings_in(run), IsEmpty());
    result.metrics.push_back(ratio("lt with bias", 1.06, 1.08));
    expect_only(run, "path-parity", Severity::warning,
                "lt with bias takes 1.070 (1.060 to 1.080) times as long as lt");
    result.metrics.back().trustworthy = false;  // too few rounds
    for (const auto& finding : findings_in(run)) EXPECT_EQ(finding.rule, "untrusted-interval");
    result.metrics.back().trustworthy = true;
    result.what.set("parity", "layouts");
    EXPECT_THAT(findings_in(run), IsEmpty()) << "another layout is another product";
}

TEST(SizeCliff, NamesSizeAndWhatToPadTo) {
    auto run = good_machine();
    fp32(run).series = {{"padding gain", "n", "ratio", {8100, 8130}, {1.31, 1.06}},
                        {"pad to", "n", "size", {8100, 8130}, {8128, 8192}}};
    expect_only(run, "size-cliff", Severity::note, "n=8100 takes 1.310 times as long as n=8128");
    EXPECT_EQ(findings_in(run)[0].evidence.size(), 2U);
    fp32(run).series = {{"padding gain", "n", "ratio", {}, {}}, {"pad to", "n", "size", {}, {}}};
    EXPECT_THAT(findings_in(run), IsEmpty());
}

TEST(NoTelemetry, SaysOnceWhyClockAndPowerAreMissing) {
    auto run = good_machine();
    for (auto& result : run.results) {
        if (result.probe == "selftest") continue;
        result.conditions.power_w.reset();
        result.conditions.power_source = "unavailable: no RAPL";
    }
    expect_only(run, "no-telemetry", Severity::note,
                "power of cpu: unavailable: no RAPL (7 cases)");
    EXPECT_EQ(findings_in(run)[0].message, "power can't be read");
}

TEST(Findings, OfManyCasesShowTenAndCountTheRest) {
    auto run = good_machine();
    const auto one = fp32(run);
    for (int i = 0; i < 30; ++i) run.results.push_back(one);
    for (auto& result : run.results) {
        if (result.probe == "gemm") result.path = record::Path::emulated;
    }
    const auto findings = findings_in(run);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].evidence.size(), 11U);
    EXPECT_EQ(findings[0].evidence.back(), "and 23 more");
    EXPECT_EQ(findings[0].message, "33 cases computed with a type that isn't native");
}

TEST(Findings, ComeWithErrorsFirst) {
    auto run = good_machine();
    fp32(run).path = record::Path::emulated;
    result_of(run, "gemm", "bf16").conditions.throttle_reasons = {"heat"};
    result_of(run, "selftest", "timer").checks[0].passed = false;
    std::vector<std::string> ids;
    for (const auto& finding : findings_in(run)) ids.push_back(finding.rule);
    EXPECT_THAT(ids, ElementsAre("selftest-failed", "throttled", "fallback"));
}

// A document of another tool may name a device that provenance doesn't hold.
TEST(Rules, BearADeviceWithoutFacts) {
    auto run = good_machine();
    run.provenance.devices.clear();
    EXPECT_THAT(findings_in(run), IsEmpty());
}

}  // namespace
}  // namespace assay::judge
