#include "probes/gemm_sweep.h"

#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "base/error.h"
#include "probes/fake_bench.h"

namespace assay::probes {
namespace {

TEST(GemmSweep, ParsesADimensionAndARange) {
    const auto sweep = parse_sweep("k=8..16+4");
    EXPECT_EQ(sweep.dimension, 'k');
    EXPECT_EQ(sweep.sizes, (std::vector<std::int64_t>{8, 12, 16}));
    EXPECT_EQ(parse_sweep("m=1,3,9").sizes, (std::vector<std::int64_t>{1, 3, 9}));
    EXPECT_EQ(parse_sweep("n=1K,2K").sizes, (std::vector<std::int64_t>{1024, 2048}));
    for (const auto* text : {"", "n", "n=", "n8..16+4", "x=8..16+4", "n=8", "n=8,8", "n=16,8",
                             "n=0,8", "n=8..4+1", "n=8..2147483648+2147483640", "n=a,b"}) {
        EXPECT_THROW(parse_sweep(text), UsageError) << text;
    }
}

TEST(GemmSweep, PutsTheSizeInItsDimension) {
    const work::Matmul problem{.m = 2, .n = 3, .k = 4};
    EXPECT_EQ(parse_sweep("m=8,9").at(problem, 9), (work::Matmul{.m = 9, .n = 3, .k = 4}));
    EXPECT_EQ(parse_sweep("n=8,9").at(problem, 9), (work::Matmul{.m = 2, .n = 9, .k = 4}));
    EXPECT_EQ(parse_sweep("k=8,9").at(problem, 9), (work::Matmul{.m = 2, .n = 3, .k = 9}));
}

MatmulCase matmul() {
    MatmulCase matmul;
    matmul.problem = {.m = 3, .n = 5, .k = 7};
    matmul.cache = CacheState::hot;
    return matmul;
}

// Milliseconds by size, with noise of `noise` (relative, normal).
record::Result sweep(const std::string& text, const std::map<std::int64_t, double>& times,
                     double noise = 0, double limit_s = 10) {
    FakeBench bench;
    std::mt19937 random(5);
    std::normal_distribution<> normal;
    TimedMatmul op(bench.fake, [&](const work::Matmul& p, const ops::MatmulOperands&) {
        return 1e-3 * times.at(p.n) * (1 + noise * normal(random));
    });
    bench.device.patches["matmul"] = &op;
    bench.bench.protocol.limit_s = limit_s;
    record::Result result;
    result.what = to_case(matmul()).set("sweep", text);
    measure_sweep(matmul(), parse_sweep(text), bench.bench, result);
    return result;
}

const record::Series& series(const record::Result& result, std::string_view name) {
    for (const auto& one : result.series) {
        if (one.name == name) return one;
    }
    throw std::logic_error("no such series");
}

TEST(GemmSweep, NamesTheSizesThatTakeLongerThanALargerOneAndWhatToPadThemTo) {
    const auto result =
        sweep("n=4..9+1", {{4, 10}, {5, 13}, {6, 12.5}, {7, 14}, {8, 11}, {9, 12}}, 0.003);
    EXPECT_EQ(series(result, "time").x, (std::vector<double>{4, 5, 6, 7, 8, 9}));
    EXPECT_NEAR(series(result, "time").y[3], 14e-3, 14e-3 * 0.005);
    const auto& gain = series(result, "padding gain");
    EXPECT_EQ(gain.x, (std::vector<double>{5, 6, 7}));
    EXPECT_EQ(series(result, "pad to").x, gain.x);
    EXPECT_EQ(series(result, "pad to").y, (std::vector<double>{8, 8, 8}));
    EXPECT_NEAR(gain.y[0], 13 / 11.0, 0.01);
    EXPECT_NEAR(gain.y[1], 12.5 / 11, 0.01);
    EXPECT_NEAR(gain.y[2], 14 / 11.0, 0.01);

    const auto metrics = sweep_metrics(result);
    EXPECT_EQ(find_metric(metrics, "cliffs")->value, 3);
    EXPECT_NEAR(find_metric(metrics, "largest padding gain")->value, 14 / 11.0, 0.01);
}

TEST(GemmSweep, FindsNoneWhereLargerAlwaysTakesLongerOrAsLong) {
    const struct {
        const char* what;
        std::map<std::int64_t, double> times;
        double noise;
    } rows[]{
        {"smooth", {{4, 10}, {5, 10.5}, {6, 11.2}, {7, 12}, {8, 12.1}}, 0.01},
        {"flat", {{4, 10}, {5, 10}, {6, 10}, {7, 10}, {8, 10}}, 0.02},
        {"1 % apart, within the margin", {{4, 10.1}, {5, 10.05}, {6, 10}, {7, 11}, {8, 10.95}}, 0},
    };
    for (const auto& row : rows) {
        const auto result = sweep("n=4..8+1", row.times, row.noise);
        EXPECT_TRUE(series(result, "padding gain").x.empty()) << row.what;
        EXPECT_TRUE(series(result, "pad to").x.empty()) << row.what;
        const auto metrics = sweep_metrics(result);
        EXPECT_EQ(find_metric(metrics, "cliffs")->value, 0) << row.what;
        EXPECT_EQ(find_metric(metrics, "largest padding gain")->value, 1) << row.what;
    }
}

TEST(GemmSweep, TooFewRoundsMakeNoCliff) {
    const auto result = sweep("n=4..5+1", {{4, 20}, {5, 10}}, 0, 0.3);
    EXPECT_LT(result.launches.at(0).samples.at("n=4").values.size(), 6U);
    EXPECT_TRUE(series(result, "padding gain").x.empty());
}

TEST(GemmSweep, KeepsEveryRoundAndChecksEverySize) {
    const auto result = sweep("n=4..6+1", {{4, 10}, {5, 20}, {6, 30}});
    ASSERT_EQ(result.launches.size(), 1U);
    const auto& samples = result.launches[0].samples;
    EXPECT_EQ(samples.size(), 3U);
    for (const auto* label : {"n=4", "n=5", "n=6"}) {
        EXPECT_EQ(samples.at(label).values.size(), samples.at("n=4").values.size());
        EXPECT_EQ(samples.at(label).unit, "s");
        ASSERT_NE(find_check(result, std::string("answer ") + label), nullptr);
        EXPECT_TRUE(find_check(result, std::string("answer ") + label)->passed);
    }
    EXPECT_EQ(result.conditions.protocol, "interleaved");
    EXPECT_EQ(find_metric(sweep_metrics(result), "cliffs")->n, 3 * samples.at("n=4").values.size());
}

TEST(GemmSweep, PoolsTheRoundsOfSeveralLaunches) {
    auto result = sweep("n=4..5+1", {{4, 10}, {5, 20}});
    EXPECT_EQ(find_metric(sweep_metrics(result), "cliffs")->value, 0);
    const auto other = sweep("n=4..5+1", {{4, 20}, {5, 10}}).launches.at(0);
    result.launches = {other, other};  // the series are still those of the first launch
    const auto metrics = sweep_metrics(result);
    EXPECT_EQ(find_metric(metrics, "cliffs")->value, 1);
    EXPECT_NEAR(find_metric(metrics, "largest padding gain")->value, 2, 1e-9);
    EXPECT_EQ(find_metric(metrics, "cliffs")->n, 4 * other.samples.at("n=4").values.size());
}

TEST(GemmSweep, AWrongAnswerAtOneSizeHasNoTimes) {
    FakeBench bench;
    TimedMatmul op(bench.fake, [&](const work::Matmul& p, const ops::MatmulOperands&) {
        if (p.n == 5) bench.fake.script.wrong_by = 1e-3;
        return 1e-3;
    });
    bench.device.patches["matmul"] = &op;
    record::Result result;
    result.what = to_case(matmul()).set("sweep", "n=4..6+1");
    measure_sweep(matmul(), parse_sweep("n=4..6+1"), bench.bench, result);
    EXPECT_TRUE(find_check(result, "answer n=4")->passed);
    EXPECT_FALSE(find_check(result, "answer n=5")->passed);
    EXPECT_EQ(find_check(result, "answer n=6"), nullptr);
    EXPECT_TRUE(result.launches.empty());
    EXPECT_TRUE(sweep_metrics(result).empty());
}

}  // namespace
}  // namespace assay::probes
