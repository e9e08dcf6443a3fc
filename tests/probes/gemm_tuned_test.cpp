#include "probes/gemm_tuned.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "measure/winners.h"
#include "probes/fake_bench.h"
#include "probes/gemm.h"
#include "probes/hooked_memory.h"

namespace assay::probes {
namespace {

namespace fs = std::filesystem;

const GemmProbe kProbe;

class GemmTunedTest : public testing::Test {
  public:
    GemmTunedTest()
        : cache(fs::temp_directory_path() / ("assay-tuned-" + std::to_string(::getpid()))) {
        fs::remove_all(cache);
        ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
        bench.fake.script.algorithms = {{.name = "own", .slowdown = 1.0, .workspace_bytes = 1},
                                        {.name = "near", .slowdown = 0.9},
                                        {.name = "best", .slowdown = 0.8, .workspace_bytes = 4096},
                                        {.name = "far", .slowdown = 5.0}};
    }
    ~GemmTunedTest() override {
        ::unsetenv("XDG_CACHE_HOME");
        fs::remove_all(cache);
    }

    device::FakeWay& way(const std::string& name) {
        for (auto& one : bench.fake.script.algorithms) {
            if (one.name == name) return one;
        }
        throw std::logic_error(name);
    }

    record::Result run(std::map<std::string, std::string> options = {}) {
        options.insert({{"shapes", "3x5x7"}, {"algorithm", "tuned"}});
        const auto cases =
            kProbe.expand(options_of(kProbe, options), device::FakeDevice::fake_facts());
        auto result = bench.run(kProbe, cases.at(0));
        result.metrics = kProbe.metrics(result);
        return result;
    }

    static std::string setting(const record::Result& result, const std::string& name) {
        const auto found = result.conditions.settings.find(name);
        return found == result.conditions.settings.end() ? "" : found->second;
    }

    static double value(const record::Result& result, const char* name) {
        const auto* metric = result.metric(name);
        EXPECT_NE(metric, nullptr) << name;
        return metric == nullptr ? -1 : metric->value;
    }

    fs::path cache;
    FakeBench bench;
};

TEST_F(GemmTunedTest, TheFastestIsSampledAndItsGainTold) {
    for (const auto& protocol : {measure::boost(), measure::sustained()}) {
        bench.bench.protocol = protocol;
        const auto result = run();
        EXPECT_EQ(setting(result, "winner"), "best");
        EXPECT_EQ(setting(result, "cache"), "miss");
        EXPECT_EQ(result.conditions.algorithm, "best");
        EXPECT_EQ(result.conditions.workspace_bytes, 4096U);
        EXPECT_NEAR(value(result, "time"), 0.8e-3, 1e-9);
        EXPECT_NEAR(value(result, "tuned gain"), 1.25, 1e-6);
        const auto* gain = result.metric("tuned gain");
        ASSERT_TRUE(gain->interval.has_value());
        EXPECT_NEAR(gain->interval->first, 1.25, 1e-6);
        EXPECT_GE(gain->n, 12U);
        EXPECT_EQ(value(result, "algorithms tried"), 4);
        EXPECT_GT(value(result, "tuning time"), 0);
        EXPECT_LT(value(result, "tuning time"), 5);
        EXPECT_EQ(setting(result, "settling") != "", protocol.settle);
        EXPECT_EQ(result.metric("re-tuning time"), nullptr);
        for (const auto& check : result.checks) EXPECT_TRUE(check.passed) << check.name;
        EXPECT_NE(find_check(result, "answer of the winner"), nullptr);
        EXPECT_NE(find_check(result, "memory returned"), nullptr);
        EXPECT_EQ(setting(result, "wrong algorithms"), "");
    }
}

TEST_F(GemmTunedTest, AWinnerIsKeptForTheSameProblemAndProtocol) {
    run();
    auto again = run();
    EXPECT_EQ(setting(again, "cache"), "hit");
    EXPECT_EQ(setting(again, "winner"), "best");
    EXPECT_EQ(value(again, "algorithms tried"), 0);
    EXPECT_NEAR(value(again, "tuned gain"), 1.25, 1e-6) << "measured again";
    EXPECT_EQ(setting(run({{"epilogue", "bias"}}), "cache"), "miss");
    EXPECT_EQ(setting(run({{"retune", "yes"}}), "cache"), "miss");
    EXPECT_EQ(setting(run({{"retune", "no"}}), "cache"), "hit");
    EXPECT_EQ(setting(again, "settling"), "");
    bench.bench.protocol = measure::sustained();
    EXPECT_EQ(setting(run(), "cache"), "miss");
    again = run();
    EXPECT_EQ(setting(again, "cache"), "hit");
    EXPECT_NE(setting(again, "settling"), "") << "compared in the protocol's power state too";
    EXPECT_LT(value(again, "tuning time"), 2);
}

TEST_F(GemmTunedTest, TheLibrarysOwnChoiceMayWin) {
    for (auto& one : bench.fake.script.algorithms) one.slowdown = one.name == "own" ? 0.7 : 1;
    for (const auto* cached : {"miss", "hit"}) {
        const auto result = run();
        EXPECT_EQ(setting(result, "cache"), cached);
        EXPECT_EQ(setting(result, "winner"), "own");
        EXPECT_EQ(value(result, "tuned gain"), 1);
        EXPECT_EQ(result.metric("tuned gain")->interval, std::pair(1.0, 1.0));
        EXPECT_EQ(result.metric("tuned gain")->n, 0U);
        EXPECT_EQ(result.conditions.algorithm, "own");
        EXPECT_EQ(find_check(result, "answer of the winner"), nullptr);
    }
}

TEST_F(GemmTunedTest, AnAlgorithmWithAWrongAnswerNeverWinsAndIsNamed) {
    way("best").wrong_by = 1e-3;
    const auto result = run();
    EXPECT_EQ(setting(result, "winner"), "near");
    EXPECT_NE(setting(result, "wrong algorithms").find("best: element ("), std::string::npos);
    EXPECT_EQ(value(result, "algorithms tried"), 3);
    EXPECT_NEAR(value(result, "tuned gain"), 1 / 0.9, 1e-6);
    for (const auto& check : result.checks) EXPECT_TRUE(check.passed) << check.name;
}

TEST_F(GemmTunedTest, WhatThrowsIsDroppedAndNamed) {
    way("best").unsupported = true;
    way("near").fails = true;
    way("far").slowdown = 0.95;
    const auto result = run();
    EXPECT_EQ(setting(result, "winner"), "far");
    const auto dropped = setting(result, "dropped algorithms");
    EXPECT_NE(dropped.find("best: best can't do this product"), std::string::npos) << dropped;
    EXPECT_NE(dropped.find("near: near can't be launched"), std::string::npos) << dropped;
    EXPECT_EQ(value(result, "algorithms tried"), 2);
}

TEST_F(GemmTunedTest, WhereNoneCanBeTimedTheOwnChoiceStaysAndNothingIsKept) {
    for (auto& one : bench.fake.script.algorithms) one.wrong_by = one.name == "own" ? 0 : 1;
    int prepared = 0;
    way("own").on_prepare = [&prepared] {
        if (++prepared == 2) throw Error("no memory for a second one");
    };
    const auto result = run();
    EXPECT_EQ(setting(result, "winner"), "own");
    EXPECT_EQ(value(result, "algorithms tried"), 0);
    EXPECT_EQ(value(result, "tuned gain"), 1);
    EXPECT_NEAR(value(result, "time"), 1e-3, 1e-9);
    way("own").on_prepare = {};
    EXPECT_EQ(setting(run(), "cache"), "miss");
}

TEST_F(GemmTunedTest, AnEarlierWinnerThatCanNoLongerBeUsedIsSearchedForAnew) {
    run();
    way("best").unsupported = true;
    auto result = run();
    EXPECT_EQ(setting(result, "cache"), "miss");
    EXPECT_EQ(setting(result, "winner"), "near");
    EXPECT_EQ(setting(result, "earlier winner"), "best: best can't do this product");
    way("near").wrong_by = 0.1;
    result = run();
    EXPECT_EQ(setting(result, "winner"), "own");
    EXPECT_EQ(setting(result, "earlier winner"), "near: its answer is wrong");
    EXPECT_NE(setting(result, "wrong algorithms").find("near: "), std::string::npos);
}

TEST_F(GemmTunedTest, AnEarlierWinnerThatNoLongerWinsIsSearchedForAnew) {
    run();
    way("best").slowdown = 1.2;
    const auto result = run();
    EXPECT_EQ(setting(result, "cache"), "miss");
    EXPECT_EQ(setting(result, "earlier winner"), "best: slower than the library's own choice");
    EXPECT_EQ(setting(result, "winner"), "near");
    EXPECT_NEAR(value(result, "tuned gain"), 1 / 0.9, 1e-6);
    EXPECT_LT(value(result, "tuning time"), 5);
}

// The search sees one clock, the comparison another: what it measures is told all the same.
TEST_F(GemmTunedTest, TheGainIsWhatTheComparisonMeasuresEvenBelowOne) {
    bench.bench.protocol = measure::sustained();
    for (auto& one : bench.fake.script.algorithms) one.slowdown = one.name == "near" ? 0.99 : 1;
    int prepared = 0;
    way("near").on_prepare = [&] {
        if (++prepared == 1) way("near").slowdown = 1.005;  // from the next time on
    };
    const auto result = run();
    EXPECT_EQ(setting(result, "winner"), "near");
    EXPECT_NEAR(value(result, "tuned gain"), 1 / 1.005, 1e-6);
}

TEST_F(GemmTunedTest, AHitDoesNotListWhatItDoesNotTry) {
    run();
    bench.fake.script.most_enumerated = 0;
    const auto result = run();
    EXPECT_EQ(setting(result, "cache"), "hit");
    EXPECT_EQ(bench.fake.script.most_enumerated, 0U);
    run({{"retune", "yes"}});
    EXPECT_EQ(bench.fake.script.most_enumerated, kEnumerated);
}

TEST_F(GemmTunedTest, AWiderSearchIsAnotherCaseWithAWinnerOfItsOwn) {
    run();
    const auto result = run({{"algorithms", "200"}});
    EXPECT_EQ(bench.fake.script.most_enumerated, 200U);
    EXPECT_EQ(result.what.text(), "m=3 n=5 k=7 dtype=fp32 algorithm=tuned algorithms=200");
    EXPECT_EQ(setting(result, "cache"), "miss");
    EXPECT_EQ(setting(run({{"algorithms", "200"}}), "cache"), "hit");
    EXPECT_EQ(setting(run(), "cache"), "hit");
    EXPECT_EQ(value(run({{"algorithms", "0"}}), "algorithms tried"), 1) << "its own list alone";
}

TEST_F(GemmTunedTest, CachesAreClearedAsTheProtocolClearsThem) {
    bench.bench.protocol = measure::article();
    for (const auto* state : {"cold", "hot"}) {
        std::size_t clears = 0;
        HookedMemory memory(bench.fake, [&](auto&, auto&, auto&) { ++clears; });
        bench.device.patches["memory"] = &memory;
        const auto result = run({{"cache", state}});
        const auto& samples = result.launches.at(0).samples;
        const auto told = samples.at("time").values.size();
        const auto compared = samples.at("tuned").values.size();
        if (std::string(state) == "hot") {
            EXPECT_EQ(clears, 0U);
        } else {
            EXPECT_GT(clears, told + 2 * compared) << "the search, the comparison, the sampling";
        }
        bench.device.patches.clear();
    }
}

TEST_F(GemmTunedTest, ALaunchWhoseOwnChoiceWonCountsAsOneWhenPooling) {
    auto result = run();
    const auto rounds = result.metric("tuned gain")->n;
    for (auto& one : bench.fake.script.algorithms) one.slowdown = one.name == "own" ? 0.7 : 1;
    result.launches.push_back(run({{"retune", "yes"}}).launches.at(0));
    const auto metrics = kProbe.metrics(result);
    EXPECT_NEAR(find_metric(metrics, "tuned gain")->value, std::sqrt(1.25), 1e-6);
    EXPECT_EQ(find_metric(metrics, "tuned gain")->n, rounds);
}

TEST_F(GemmTunedTest, MemoryThatTuningKeepsIsAFailedCheck) {
    std::vector<std::unique_ptr<device::Buffer>> leaked;
    way("far").on_prepare = [&] { leaked.push_back(bench.fake.allocate(std::size_t{30} << 20)); };
    auto result = run({{"retune", "yes"}});
    EXPECT_TRUE(find_check(result, "memory returned")->passed);
    const auto before = std::stoull(setting(result, "memory held before"));
    EXPECT_EQ(std::stoull(setting(result, "memory held after")), before + (30U << 20));
    way("near").on_prepare = way("best").on_prepare = way("far").on_prepare;
    result = run({{"retune", "yes"}});
    const auto* check = find_check(result, "memory returned");
    EXPECT_FALSE(check->passed);
    EXPECT_NE(check->detail.find("held before tuning"), std::string::npos) << check->detail;
}

TEST_F(GemmTunedTest, TimesTheChoiceForAnotherShapeWhereAsked) {
    const auto result = run({{"retune-time", "yes"}});
    EXPECT_EQ(result.what.text(), "m=3 n=5 k=7 dtype=fp32 algorithm=tuned");
    EXPECT_GT(value(result, "re-tuning time"), 0);
    EXPECT_GT(value(run({{"retune-time", "yes"}}), "re-tuning time"), 0) << "after a hit too";
    bench.fake.script.memory_bytes = 5000;  // no room for 131 x 7
    EXPECT_NE(setting(run({{"retune-time", "yes"}}), "re-tuning"), "");
}

TEST_F(GemmTunedTest, ADamagedFileOfWinnersCostsASearchOnly) {
    fs::create_directories(cache / "assay");
    write_file(measure::Winners::default_file(), "{");
    auto result = run();
    EXPECT_EQ(setting(result, "winner"), "best");
    EXPECT_NE(setting(result, "winners file").find("was ignored"), std::string::npos);
    result = run();
    EXPECT_EQ(setting(result, "cache"), "hit");
    EXPECT_EQ(setting(result, "winners file"), "");
}

TEST_F(GemmTunedTest, AFileOfWinnersThatCannotBeWrittenIsSaid) {
    fs::create_directories(cache);
    write_file(cache / "assay", "a file where the folder should be");
    const auto result = run();
    EXPECT_EQ(setting(result, "winner"), "best");
    EXPECT_NE(setting(result, "winners file"), "");
}

TEST_F(GemmTunedTest, WithoutAlgorithmsThereIsNothingToTune) {
    bench.fake.script.algorithms.clear();
    EXPECT_NE(message_of<Unsupported>([&] { run(); }).find("no algorithms"), std::string::npos);
    EXPECT_EQ(run({{"algorithm", "heuristic"}}).metric("tuned gain"), nullptr);
}

TEST_F(GemmTunedTest, ALostDeviceIsThrown) {
    bench.fake.script.lost_at_call = 30;
    EXPECT_THROW(run(), DeviceLost);
}

TEST_F(GemmTunedTest, LaunchesPoolTheirRounds) {
    auto result = run();
    const auto rounds = result.metric("tuned gain")->n;
    result.launches.push_back(run().launches.at(0));
    const auto metrics = kProbe.metrics(result);
    EXPECT_GT(find_metric(metrics, "tuned gain")->n, rounds);
    EXPECT_EQ(find_metric(metrics, "algorithms tried")->value, 4);
}

}  // namespace
}  // namespace assay::probes
