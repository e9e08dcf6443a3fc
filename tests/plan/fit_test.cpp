#include "plan/fit.h"

#include <gmock/gmock.h>

#include "support/made_transformer.h"

namespace assay::plan {
namespace {

using model::Layout;

model::Holdings llama() {
    static const auto kHeld = model::holdings_of(made_llama3_8b(), stored_bf16, false);
    return kHeld;
}

model::Holdings latent() {
    static const auto kHeld =
        model::holdings_of(made_latent({.linear_layers = 6}), stored_bf16, false);
    return kHeld;
}

model::Use serving(std::int64_t context, std::int64_t batch = 1) {
    model::Use use;
    use.context = context;
    use.batch = batch;
    return use;
}

model::Use training(std::int64_t context, std::int64_t batch = 1) {
    auto use = serving(context, batch);
    use.training = model::Training{};
    return use;
}

const std::vector<Layout> kLayouts{{},     {2},          {8},          {1, 2},
                                   {2, 2}, {2, 1, 1, 2}, {1, 4, 1, 2}, {4, 1, 1, 1, 2}};

// Nothing that fits is above what the budget allows, and one more request is: whatever the meaning.
TEST(Fit, LargestBatchIsTheLastThatFits) {
    int checked = 0;
    for (const char* budget : {"of-total:0.9", "of-free:0.9"}) {
        for (const auto& holdings : {llama(), latent()}) {
            for (const auto& layout : kLayouts) {
                const auto one = fit(holdings, layout, serving(3000), parse_budget(budget), 24e9);
                ASSERT_TRUE(one.largest_batch);
                if (*one.largest_batch == 0) continue;
                const auto most = fit(holdings, layout, serving(3000, *one.largest_batch),
                                      parse_budget(budget), 24e9);
                EXPECT_TRUE(most.fits()) << layout.text();
                EXPECT_LE(most.memory.total(), 24e9);
                EXPECT_LE(most.memory.kv_cache + most.memory.state, most.room);
                EXPECT_FALSE(fit(holdings, layout, serving(3000, *one.largest_batch + layout.data),
                                 parse_budget(budget), 24e9)
                                 .fits());
                ++checked;
            }
        }
    }
    EXPECT_GT(checked, 20);
}

TEST(Fit, LargestContextIsTheLastThatFits) {
    for (const auto& layout : kLayouts) {
        const auto one = fit(llama(), layout, serving(100, 4), parse_budget("0.9"), 24e9);
        if (!one.fits()) continue;
        ASSERT_TRUE(one.largest_context);
        EXPECT_TRUE(
            fit(llama(), layout, serving(*one.largest_context, 4), parse_budget("0.9"), 24e9)
                .fits())
            << layout.text();
        EXPECT_FALSE(fit(llama(), layout, serving(*one.largest_context + layout.context, 4),
                         parse_budget("0.9"), 24e9)
                         .fits())
            << layout.text();
    }
}

TEST(Fit, TrainingIsBoundByItsActivations) {
    const auto one = fit(llama(), {8}, training(8192), parse_budget("0.9"), 141e9);
    EXPECT_TRUE(one.fits());
    ASSERT_TRUE(one.largest_batch);
    EXPECT_GT(*one.largest_batch, 1);
    EXPECT_TRUE(
        fit(llama(), {8}, training(8192, *one.largest_batch), parse_budget("0.9"), 141e9).fits());
    EXPECT_FALSE(
        fit(llama(), {8}, training(8192, *one.largest_batch + 1), parse_budget("0.9"), 141e9)
            .fits());
    // 128.5 GB of states in one device of 141 GB leave no room for a step of 8192 tokens.
    EXPECT_FALSE(fit(llama(), {}, training(8192), parse_budget("1"), 141e9).fits());
}

// Tokens are the room over a token's bytes, and requests of a length hold as many.
TEST(Fit, TokensAreTheRoomOverBytesOfAToken) {
    const auto one = fit(llama(), {}, serving(1), parse_budget("0.9"), 24e9);
    ASSERT_TRUE(one.cache_tokens);
    EXPECT_DOUBLE_EQ(*one.cache_tokens, one.room / 131'072);
    EXPECT_EQ(*one.largest_batch, static_cast<std::int64_t>(*one.cache_tokens));
    const auto long_ones = fit(llama(), {}, serving(2000), parse_budget("0.9"), 24e9);
    EXPECT_DOUBLE_EQ(*long_ones.cache_tokens, *one.cache_tokens);
    EXPECT_EQ(*long_ones.largest_batch, static_cast<std::int64_t>(*long_ones.cache_tokens / 2000));
}

// The type of the cache is not that of the weights.
TEST(Fit, CacheInOneByteHoldsTwiceTheTokens) {
    auto fp8 = serving(2000);
    fp8.cache = model::cache_type("fp8");
    const auto one = fit(llama(), {}, serving(2000), parse_budget("0.9"), 24e9);
    const auto half = fit(llama(), {}, fp8, parse_budget("0.9"), 24e9);
    EXPECT_DOUBLE_EQ(half.memory.weights, one.memory.weights);
    EXPECT_NEAR(*half.cache_tokens, 2 * *one.cache_tokens, 1);
}

TEST(Fit, MissingBytesWouldDo) {
    const auto small = fit(llama(), {}, serving(8192), parse_budget("of-total:1"), 16e9);
    EXPECT_FALSE(small.fits());
    EXPECT_GT(small.missing, 0);
    EXPECT_DOUBLE_EQ(missing_bytes(llama(), {}, serving(8192), parse_budget("of-total:1"), 16e9),
                     small.missing);
    EXPECT_TRUE(
        fit(llama(), {}, serving(8192), parse_budget("of-total:1"), 16e9 + small.missing).fits());
    EXPECT_FALSE(
        fit(llama(), {}, serving(8192), parse_budget("of-total:1"), 16e9 + small.missing - 1000)
            .fits());
    EXPECT_EQ(small.largest_batch, 0);
    EXPECT_EQ(small.largest_context, 0);
}

TEST(Fit, ReportsTheFullestStage) {
    // A last stage with a head of its own.
    const auto holdings = model::holdings_of(
        made_dense({.layers = 4, .vocabulary = 500'000, .tied = false}), stored_bf16, false);
    const auto one = fit(holdings, {1, 4}, serving(10), parse_budget("1"), 24e9);
    double fullest = 0;
    for (int stage = 0; stage < 4; ++stage) {
        fullest = std::max(fullest, memory_of(holdings, {1, 4}, serving(10), stage).total());
    }
    EXPECT_DOUBLE_EQ(one.memory.total(), fullest);
}

TEST(Fit, WindowsAloneKnowNoLongestContext) {
    const auto holdings = model::holdings_of(made_dense({.window = 128}), stored_bf16, false);
    const auto one = fit(holdings, {}, serving(10), parse_budget("0.9"), 24e9);
    EXPECT_EQ(one.largest_context, std::nullopt);
    EXPECT_TRUE(one.largest_batch);
}

}  // namespace
}  // namespace assay::plan
