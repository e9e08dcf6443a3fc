#include "probes/gemm_methods.h"

#include <cmath>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "probes/fake_bench.h"
#include "probes/hooked_memory.h"

namespace assay::probes {
namespace {

TEST(GemmMethods, KnowsTheMethodsOfTheField) {
    std::set<std::string_view> names;
    for (const auto& method : timing_methods()) {
        names.insert(method.name);
        EXPECT_FALSE(method.source.empty()) << method.name;
        EXPECT_TRUE(method.warmup_calls > 0 || method.warmup_s > 0) << method.name;
        EXPECT_TRUE(method.calls > 0 || method.timed_s > 0) << method.name;
    }
    EXPECT_EQ(names, (std::set<std::string_view>{"mamf-old", "do_bench", "superbench", "hipblaslt",
                                                 "best-of"}));
}

TEST(GemmMethods, ParsesLists) {
    const auto methods = parse_methods("best-of,mamf-old");
    ASSERT_EQ(methods.size(), 2U);
    EXPECT_EQ(methods[0]->name, "best-of");
    EXPECT_EQ(methods[1]->name, "mamf-old");
    for (const auto* text : {"", "best-of,", "stopwatch", "Best-Of"}) {
        EXPECT_THROW(parse_methods(text), UsageError) << text;
    }
}

constexpr const char* kAll = "mamf-old,do_bench,superbench,hipblaslt,best-of";

MatmulCase matmul() {
    MatmulCase matmul;
    matmul.problem = {.m = 3, .n = 5, .k = 7};
    return matmul;
}

// A device on which operands that were used by the call before are in the cache, unless it was
// cleared meanwhile.
struct CachedBench : FakeBench {
    explicit CachedBench(std::function<double(bool hot, std::size_t call)> time)
        : op(fake,
             [this, time = std::move(time)](const auto&, const auto& operands) {
                 const bool hot = operands.a == cached;
                 cached = operands.a;
                 return time(hot, ++calls);
             }),
          memory(fake, [this](auto&, auto&, auto&) {
              cached = nullptr;
              ++clears;
          }) {
        device.patches = {{"matmul", &op}, {"memory", &memory}};
        bench.protocol.limit_s = 4;
    }

    record::Result measure(const std::string& methods) {
        record::Result result;
        result.what = to_case(matmul()).set("as", methods);
        measure_methods(matmul(), parse_methods(methods), bench, result);
        return result;
    }

    const void* cached = nullptr;
    std::size_t calls = 0;
    int clears = 0;
    TimedMatmul op;
    HookedMemory memory;
};

double error_of(const record::Result& result, std::string_view method) {
    const auto metrics = method_metrics(result);
    const auto* metric = find_metric(metrics, "error of " + std::string(method));
    return metric == nullptr ? -1000 : metric->value;
}

// Cold calls take 9.9 ms, hot ones 8, and every tenth call a fifth less. A window of ten honest
// calls has one such, so its median is 9.9 ms; a mean of hot calls is 8 x 0.98 = 7.84 ms.
TEST(GemmMethods, FindEachMethodsErrorAsComputedByHand) {
    CachedBench bench([](bool hot, std::size_t call) {
        return (hot ? 8e-3 : 9.9e-3) * (call % 10 == 0 ? 0.8 : 1);
    });
    const auto result = bench.measure(kAll);
    const std::map<std::string_view, double> errors{
        {"mamf-old", 100 * (1 / 0.8 - 1)},         // the best of 100 cold calls: an outlier
        {"do_bench", 100 * (1 / 0.98 - 1)},        // the mean of ten cold calls
        {"superbench", 100 * (9.9 / 7.84 - 1)},    // the mean of 50 hot calls
        {"hipblaslt", 100 * (9.9 / 7.84 - 1)},     // of ten
        {"best-of", 100 * (9.9 / (8 * 0.8) - 1)},  // the best of 100 hot calls
    };
    for (const auto& [method, error] : errors) {
        EXPECT_NEAR(error_of(result, method), error, 0.01) << method;
    }
    const auto metrics = method_metrics(result);
    const double flop = 2 * 3 * 5 * 7;
    EXPECT_NEAR(find_metric(metrics, "throughput")->value, flop / 9.9e-3 / 1e12, 1e-15);
    EXPECT_NEAR(find_metric(metrics, "throughput as best-of")->value, flop / 6.4e-3 / 1e12, 1e-15);
    EXPECT_EQ(find_metric(metrics, "throughput as best-of")->better, record::Better::neither);
}

TEST(GemmMethods, FindNoErrorWhereEveryCallTakesTheSame) {
    CachedBench bench([](bool, std::size_t) { return 5e-3; });
    const auto result = bench.measure(kAll);
    for (const auto& method : timing_methods()) {
        EXPECT_NEAR(error_of(result, method.name), 0, 1e-6) << method.name;
    }
}

TEST(GemmMethods, WarmUpSoThatTheFirstCallIsNotCounted) {
    // The first call on operands that aren't in the cache is a hundred times as long.
    CachedBench bench([](bool hot, std::size_t) { return hot ? 8e-3 : 0.8; });
    const auto result = bench.measure("hipblaslt");
    EXPECT_NEAR(result.launches.at(0).samples.at("hipblaslt").values.at(0), 8e-3, 1e-9);
}

TEST(GemmMethods, KeepEveryRoundAndSayWhatEachMethodIs) {
    CachedBench bench([](bool, std::size_t) { return 5e-3; });
    const auto result = bench.measure("superbench,best-of");
    ASSERT_EQ(result.launches.size(), 1U);
    const auto& samples = result.launches[0].samples;
    const auto rounds = samples.at("window").values.size();
    EXPECT_GE(rounds, 3U);
    EXPECT_EQ(samples.at("superbench").values.size(), rounds);
    EXPECT_EQ(samples.at("best-of").values.size(), rounds);
    EXPECT_GE(samples.at("time").values.size(), 100U);
    EXPECT_NE(result.conditions.settings.at("as superbench").find("SuperBench"), std::string::npos);
    EXPECT_EQ(result.conditions.protocol, "sustained");
    EXPECT_EQ(bench.clears, 0);  // neither of them clears anything
}

TEST(GemmMethods, RefuseACallSoLongThatTheirRoundsWouldTakeMinutes) {
    CachedBench bench([](bool, std::size_t) { return 1.0; });
    EXPECT_NE(message_of<Unsupported>([&] {
                  bench.measure("mamf-old");
              }).find("3 rounds of these methods take 7 min 30 s"),
              std::string::npos);
}

TEST(GemmMethods, AWrongAnswerHasNeitherTimesNorErrors) {
    CachedBench bench([](bool, std::size_t) { return 5e-3; });
    bench.fake.script.wrong_by = 1e-3;
    const auto result = bench.measure(kAll);
    EXPECT_FALSE(result.checks.at(0).passed);
    EXPECT_TRUE(result.launches.empty());
    const auto metrics = method_metrics(result);
    ASSERT_EQ(metrics.size(), 1U);
    EXPECT_TRUE(std::isnan(metrics[0].value));
}

TEST(GemmMethods, AnInterruptionKeepsTheHonestSamples) {
    CachedBench bench([&](bool, std::size_t call) {
        if (call == 800) set_interrupted(true);
        return 5e-3;
    });
    const auto result = bench.measure(kAll);
    set_interrupted(false);
    const auto& samples = result.launches.at(0).samples;
    EXPECT_FALSE(samples.at("time").values.empty());
    EXPECT_EQ(samples.at("window").values.size(), samples.at("best-of").values.size());
    EXPECT_LE(samples.at("window").values.size(), 3U);
    EXPECT_FALSE(method_metrics(result).empty());
}

}  // namespace
}  // namespace assay::probes
