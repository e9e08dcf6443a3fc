#include "plan/break_even.h"

#include <gmock/gmock.h>

namespace assay::plan {
namespace {

// A configuration of eight devices.
Prediction made(double tpot_s, double output_per_s, std::int64_t batch = 8) {
    Prediction prediction;
    prediction.devices = 8;
    prediction.load.batch = batch;
    prediction.ttft_s = {0.1, 0.1, 0.1};
    prediction.tpot_s = {tpot_s, tpot_s, tpot_s};
    prediction.output_per_s = {output_per_s, output_per_s, output_per_s};
    return prediction;
}

std::vector<Candidate> two() {
    return {{"A", {made(0.010, 300), made(0.030, 4000)}, 2.0},
            {"B", {made(0.005, 600), made(0.020, 3000)}, 3.0}};
}

TEST(BreakEven, RanksByDollarsOnlyWhereAllHavePrices) {
    auto candidates = two();
    EXPECT_EQ(yield_of(candidates), Yield::per_dollar);
    EXPECT_EQ(standings(candidates, {}).front().candidate->name, "A");
    candidates[1].per_hour.reset();
    EXPECT_EQ(yield_of(candidates), Yield::per_device);
    EXPECT_TRUE(price_break_evens(candidates, {}).empty());
}

TEST(BreakEven, AtThePriceBothYieldTheSame) {
    const auto candidates = two();
    const auto found = price_break_evens(candidates, {});
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].what, "price of A");
    EXPECT_EQ(found[1].what, "price of B");
    for (std::size_t i = 0; i < 2; ++i) {
        auto changed = candidates;
        changed[i].per_hour = found[i].value;
        const auto list = standings(changed, {});
        EXPECT_NEAR(list[0].yield, list[1].yield, 1e-9);
        changed[i].per_hour = found[i].value * 0.99;  // below it, it wins
        EXPECT_EQ(standings(changed, {}).front().candidate->name, found[i].before);
        changed[i].per_hour = found[i].value * 1.01;
        EXPECT_EQ(standings(changed, {}).front().candidate->name, found[i].after);
    }
}

TEST(BreakEven, AtEachLimitTheWinnerChanges) {
    const auto candidates = two();
    const auto found = limit_break_evens(candidates, {});
    // From 5 ms B alone, from 10 ms both, and B's 25 tokens/s per $/h beat A's 19; from 30 ms A.
    ASSERT_EQ(found.size(), 1u);
    EXPECT_DOUBLE_EQ(found[0].value, 0.030);
    EXPECT_EQ(found[0].before, "B");
    EXPECT_EQ(found[0].after, "A");
    for (const auto& change : found) {
        Slo limit;
        limit.tpot_s = change.value;
        EXPECT_EQ(standings(candidates, limit).front().candidate->name, change.after);
        limit.tpot_s = change.value * 0.999;
        EXPECT_EQ(standings(candidates, limit).front().candidate->name, change.before);
    }
}

// 8 requests of 100 output tokens: decode takes 99 x TPOT of a turn, prefill the rest.
TEST(BreakEven, AtTheAcceptanceLengthBothYieldTheSame) {
    auto candidates = two();
    candidates.front().predictions = {made(0.010, 0)};
    auto& a = candidates.front().predictions.front();
    a.load.output = 100;
    a.load.speculation = Speculation{.drafts = 7, .acceptance = 4};
    const auto output = [&](double acceptance) {
        const double decode = 99 * 0.010 * 4 / acceptance;
        return 8 * 100 / (0.5 + decode);
    };
    a.output_per_s.value = output(4);
    candidates[1].predictions = {made(0.020, output(2.5) * 3.0 / 2.0)};
    const auto found = acceptance_break_evens(candidates, {});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(found[0].value, 2.5, 1e-9);
    EXPECT_EQ(found[0].before, "B");
    EXPECT_EQ(found[0].after, "A");
    // No acceptance length of at most 8 makes up for this one.
    candidates[1].predictions = {made(0.020, output(8) * 3.0 / 2.0 * 1.01)};
    EXPECT_TRUE(acceptance_break_evens(candidates, {}).empty());
}

TEST(BreakEven, OneCandidateHasNothingToCompare) {
    auto candidates = two();
    candidates.pop_back();
    EXPECT_TRUE(price_break_evens(candidates, {}).empty());
    EXPECT_TRUE(limit_break_evens(candidates, {}).empty());
    EXPECT_TRUE(acceptance_break_evens(candidates, {}).empty());
}

}  // namespace
}  // namespace assay::plan
