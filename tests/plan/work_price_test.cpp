#include "plan/work_price.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/expect_error.h"

namespace assay::plan {
namespace {

double value(const std::vector<CostFigure>& figures, const std::string& name) {
    const auto found = std::ranges::find(figures, name, &CostFigure::name);
    if (found == figures.end()) {
        ADD_FAILURE() << "no figure " << name;
        return 0;
    }
    return found->value;
}

// sgl-project/sglang#37878: 8192 in and 1024 out on 8 devices. Its rate counts both.
TEST(WorkPrice, RatesOfRequestsTellInputFromOutput) {
    const auto rates = token_rates(Requests{1, 8192, 1024, 0.378, 0.00851});
    EXPECT_NEAR(*rates.total / 8, 126.8, 0.05);
    EXPECT_NEAR(*rates.output / 8, 14.1, 0.05);
    EXPECT_DOUBLE_EQ(*rates.input + *rates.output, *rates.total);
    struct {
        double concurrency, ttft_ms, tpot_ms, total;
    } const rows[]{{1, 389, 2.84, 349},
                   {16, 3539, 19.47, 785},
                   {16, 3942, 9.88, 1319},
                   {64, 11'635, 40.19, 1395},
                   {64, 12'038, 24.47, 1987}};
    for (const auto& row : rows) {
        const auto both = token_rates(
            Requests{row.concurrency, 8192, 1024, row.ttft_ms / 1e3, row.tpot_ms / 1e3});
        // Reported from whole runs, whose requests don't all begin and end together.
        EXPECT_NEAR(*both.total / 8, row.total, 0.01 * row.total);
    }
}

TEST(WorkPrice, OneCountedRateAndAShareTellTheOthers) {
    for (const auto counts : {Counts::total, Counts::output, Counts::input}) {
        const double counted = counts == Counts::total    ? 1000
                               : counts == Counts::output ? 200
                                                          : 800;
        const auto rates = token_rates(counted, counts, 0.8);
        EXPECT_NEAR(*rates.total, 1000, 1e-9);
        EXPECT_NEAR(*rates.output, 200, 1e-9);
        EXPECT_NEAR(*rates.input, 800, 1e-9);
    }
    const auto alone = token_rates(952, Counts::output, std::nullopt);
    EXPECT_FALSE(alone.total);
    EXPECT_FALSE(alone.input);
    EXPECT_FALSE(token_rates(10, Counts::output, 0.0).input);
    expect_error<UsageError>([] { token_rates(10, Counts::output, 1.0); },
                             "an input share of 1 leaves no output tokens", "--input-share");
    expect_error<UsageError>([] { parse_counts("outptu"); }, "unknown kind of tokens \"outptu\"",
                             "output");
}

// Kimi K3 rented: 48, 7 and 33 output tokens/s for each $/h.
TEST(WorkPrice, TokensPerSecondForADollarAnHour) {
    struct {
        double tokens_per_s;
        std::int64_t devices;
        double rate, published;
    } const rows[]{{952, 8, 2.50, 48}, {498, 16, 4.25, 7}, {1568, 8, 6.00, 33}};
    for (const auto& row : rows) {
        const auto figures =
            token_figures(token_rates(row.tokens_per_s, Counts::output, std::nullopt), row.devices,
                          {{"rented", row.rate}});
        EXPECT_EQ(std::round(value(figures, "output tokens/s per $/h, rented")), row.published);
    }
}

// Each definition charges the whole device-hour, so that they don't add up.
TEST(WorkPrice, EachDefinitionChargesTheWholeHour) {
    const auto figures =
        token_figures(token_rates(10'000, Counts::total, 0.75), 8, {{"owned", 2}, {"useful", 2.5}});
    EXPECT_NEAR(value(figures, "$/million total tokens, owned"), 16 / 36.0, 1e-12);
    EXPECT_NEAR(value(figures, "$/million output tokens, owned"), 16 / 9.0, 1e-12);
    EXPECT_NEAR(value(figures, "$/million input tokens, owned"), 16 / 27.0, 1e-12);
    EXPECT_NEAR(value(figures, "$/million output tokens, useful"), 20 / 9.0, 1e-12);
    for (const auto& figure : figures) {
        if (figure.unit == "$/Mtoken") {
            EXPECT_THAT(figure.definition, testing::HasSubstr("not to be added"));
        }
    }
}

// SemiAnalysis: GPT-3 175B in FP8 on H100 at 1.42 $/h, 300 billion tokens.
TEST(WorkPrice, PublishedTrainingRun) {
    const auto figures = training_figures({300e9, 728, 1, 0}, {{"rented", 1.42}});
    EXPECT_NEAR(value(figures, "$/million tokens trained, rented"), 0.542, 0.0005);
    EXPECT_NEAR(value(figures, "$/training run, rented"), 162e3, 1e3);
}

TEST(WorkPrice, FailuresLengthenARunButCostThroughTheUsefulHour) {
    const auto without = training_figures({1e12, 1e6, 1024, 0}, {{"owned", 2}});
    const auto with = training_figures({1e12, 1e6, 1024, 0.2}, {{"owned", 2}});
    EXPECT_NEAR(value(with, "duration") / value(without, "duration"), 1.25, 1e-12);
    EXPECT_DOUBLE_EQ(value(with, "$/training run, owned"), value(without, "$/training run, owned"));
}

TEST(WorkPrice, JoulesPerToken) {
    const auto figures =
        energy_figures(token_rates(4000, Counts::total, 0.5), 8, 1500, "average watts");
    EXPECT_NEAR(value(figures, "J/total token"), 3, 1e-12);
    EXPECT_NEAR(value(figures, "J/output token"), 6, 1e-12);
}

TEST(WorkPrice, PerformancePerTco) {
    const Contender one{
        "a", token_rates(952, Counts::output, std::nullopt), 3e5, 8, {"rented", 2.5}};
    Contender other{"b", token_rates(1568, Counts::output, std::nullopt), 4e5, 16, {"rented", 6}};
    const auto figures = comparison_figures(one, other);
    EXPECT_NEAR(value(figures, "performance per TCO, output tokens, a over b"),
                (952 / (8 * 2.5)) / (1568 / (16 * 6.0)), 1e-12);
    EXPECT_NEAR(value(figures, "performance per TCO, training tokens, a over b"),
                (3e5 / (8 * 2.5)) / (4e5 / (16 * 6.0)), 1e-12);
    EXPECT_NEAR(value(figures, "$/device-hour, a over b"), 2.5 / 6, 1e-12);
    EXPECT_EQ(figures.size(), 4u) << "definitions that one of them lacks aren't compared";
    other.training_tokens_per_s.reset();
    EXPECT_EQ(comparison_figures(one, other).size(), 3u);
}

}  // namespace
}  // namespace assay::plan
