#include "model/flop.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "model/config.h"
#include "model/counts.h"

namespace assay::model {
namespace {

Transformer shape_of(const std::string& name) {
    auto shape = load_model(name).shape;
    // Trainers store 50,304 rows for 50,257 tokens.
    return name == "gpt2-1.5b" ? with_padded_vocabulary(std::move(shape), 128) : shape;
}

struct Cell {
    const char* model;
    std::int64_t context;
    const char* formula;
    double gflop;  // a token
    double digit;  // the last one printed
};
// The source prints one figure for llm.c, Megatron and SemiAnalysis. Megatron's leaves out the
// norms, which for Mistral is just more than half of the last digit.
constexpr Cell kTotals[]{
    {"gpt2-1.5b", 1024, "llm.c", 9.818, 1e-3},
    {"gpt2-1.5b", 1024, "megatron", 9.802, 1e-3},
    {"gpt2-1.5b", 1024, "semianalysis", 9.808, 1e-3},
    {"gpt2-1.5b", 1024, "palm", 10.290, 1e-3},
    {"gpt2-1.5b", 1024, "nanogpt", 10.280, 1e-3},
    {"gpt2-1.5b", 1024, "torchtitan", 10.28, 1e-2},
    {"llama3-8b", 8192, "llm.c", 51.47, 1e-2},
    {"llama3-8b", 8192, "megatron", 51.47, 1e-2},
    {"llama3-8b", 8192, "semianalysis", 51.47, 1e-2},
    {"llama3-8b", 8192, "palm", 61.07, 1e-2},
    {"llama3-8b", 8192, "torchtitan", 57.91, 1e-2},
    {"llama3-8b", 4096, "llm.c", 48.25, 1e-2},
    {"llama3-8b", 4096, "megatron", 48.25, 1e-2},
    {"llama3-8b", 4096, "semianalysis", 48.25, 1e-2},
    {"llama3-8b", 4096, "palm", 54.62, 1e-2},
    {"llama3-8b", 4096, "torchtitan", 51.47, 1e-2},
    {"mistral-7b", 8192, "llm.c", 47.50, 1e-2},
    {"mistral-7b", 8192, "megatron", 47.50, 1.1e-2},
    {"mistral-7b", 8192, "semianalysis", 47.50, 1e-2},
    {"mistral-7b", 8192, "palm", 56.34, 1e-2},
    {"mistral-7b", 8192, "torchtitan", 49.11, 1e-2},
    {"mistral-7b", 4096, "llm.c", 45.89, 1e-2},
    {"mistral-7b", 4096, "megatron", 45.89, 1.2e-2},
    {"mistral-7b", 4096, "semianalysis", 45.89, 1e-2},
    {"mistral-7b", 4096, "palm", 49.89, 1e-2},
    {"mistral-7b", 4096, "torchtitan", 49.11, 1e-2},
    {"mistral-7b", 32'768, "llm.c", 48.70, 1e-2},
    {"mistral-7b", 32'768, "megatron", 48.70, 1e-2},
    {"mistral-7b", 32'768, "semianalysis", 48.70, 1e-2},
    {"mistral-7b", 32'768, "palm", 94.99, 1e-2},
    {"mistral-7b", 32'768, "torchtitan", 49.11, 1e-2},
    {"llama3-70b-4l", 8192, "llm.c", 28.45, 1e-2},
    {"llama3-70b-4l", 8192, "megatron", 28.45, 1e-2},
    {"llama3-70b-4l", 8192, "semianalysis", 28.45, 1e-2},
    {"llama3-70b-4l", 8192, "palm", 36.37, 1e-2},
    {"llama3-70b-4l", 8192, "torchtitan", 30.06, 1e-2},
};

TEST(Flop, EveryFormulaGivesItsPublishedFigure) {
    for (const auto& cell : kTotals) {
        const auto flop =
            training_flop(shape_of(cell.model), flop_formula(cell.formula), cell.context);
        EXPECT_NEAR(flop.total() / 1e9, cell.gflop, 0.501 * cell.digit)
            << cell.model << " at " << cell.context << " by " << cell.formula;
    }
}

struct Part {
    const char* model;
    std::int64_t context;
    const char* formula;
    double weights, attention;
};
constexpr Part kParts[]{
    {"gpt2-1.5b", 1024, "llm.c", 9.346, 0.472},
    {"llama3-8b", 8192, "torchtitan", 45.030, 12.885},
    {"llama3-8b", 8192, "semianalysis", 45.030, 6.442},
    {"llama3-8b", 4096, "semianalysis", 45.030, 3.221},
    {"mistral-7b", 8192, "semianalysis", 42.664, 4.832},
    {"mistral-7b", 4096, "semianalysis", 42.664, 3.222},
    {"mistral-7b", 32'768, "semianalysis", 42.664, 6.040},
    {"llama3-70b-4l", 8192, "semianalysis", 26.840, 1.611},
};

TEST(Flop, WeightsAndAttentionAreToldApart) {
    for (const auto& part : kParts) {
        const auto flop =
            training_flop(shape_of(part.model), flop_formula(part.formula), part.context);
        EXPECT_NEAR(flop.weights / 1e9, part.weights, 0.0005) << part.model;
        EXPECT_NEAR(flop.attention / 1e9, part.attention, 0.00051)
            << part.model << " at " << part.context;
    }
}

TEST(Flop, PaddedVocabularyHasItsParameters) {
    const auto counts = count(shape_of("gpt2-1.5b"));
    EXPECT_EQ(counts.total, 1'557'686'400);
    EXPECT_EQ(counts.embedding, 80'486'400 + 1'638'400);
    EXPECT_EQ(counts.kinds.front().parameters, 48 * 30'740'800LL);
}

TEST(Flop, DensityOfACausalWindow) {
    EXPECT_NEAR(causal_density(8192, 4096), 0.3750, 0.00005);
    EXPECT_NEAR(causal_density(32'768, 4096), 0.1172, 0.00005);
    EXPECT_EQ(causal_density(4096, 8192), 0.5);
    EXPECT_EQ(causal_density(4096, std::nullopt), 0.5);
}

TEST(Flop, OfAMixtureIsOfTheActiveExperts) {
    const auto shape = load_model("mixtral-8x7b").shape;
    const auto flop = training_flop(shape, flop_formula("semianalysis"), 4096);
    EXPECT_EQ(flop.weights, 6 * (12'879'925'248.0 - 32'000 * 4096));
}

// One pass forward is a third of training; decoding meets every key, a prompt half of them.
TEST(Flop, DecodingAndPromptsMeetTheirKeys) {
    const auto shape = load_model("llama3-8b").shape;
    const auto& mixer = shape.layers.front().mixer;
    const double full = 4.0 * 4096 * 8192;  // 2 for keys, 2 for values, of 32 heads of 128
    EXPECT_EQ(decode_attention_flop(mixer, 8192), full);
    EXPECT_EQ(prefill_attention_flop(mixer, 8192), full / 2);
    EXPECT_EQ(weight_flop(shape), 2.0 * (8'030'261'248.0 - 128'256 * 4096.0 - 65 * 4096));
}

// A latent is read as it is, by every head, as key and as value.
TEST(Flop, DecodingReadsLatents) {
    const auto mixer = load_model("deepseek-v3").shape.layers.front().mixer;
    EXPECT_EQ(decode_attention_flop(mixer, 1000), 2.0 * 128 * (576 + 512) * 1000);
    EXPECT_EQ(prefill_attention_flop(mixer, 1000), 2.0 * 128 * (192 + 128) * 500);
}

TEST(Flop, ASparseSelectionMeetsNoMoreThanItsEntries) {
    const auto dsa = load_model("deepseek-v3.2").shape.layers.front().mixer;
    EXPECT_EQ(keys_met(dsa, 1000), 1000);
    EXPECT_EQ(keys_met(dsa, 100'000), 2048);
    const auto v4 = load_model("deepseek-v4-flash").shape;
    EXPECT_EQ(keys_met(v4.layers[0].mixer, 100'000), 128);
    EXPECT_EQ(keys_met(v4.layers[2].mixer, 100'000), 128 + 512);
    EXPECT_EQ(keys_met(v4.layers[3].mixer, 100'000), 128 + 100'000 / 128.0);
    // The indexer scores every entry for that.
    EXPECT_EQ(decode_attention_flop(dsa, 100'000) - decode_attention_flop(dsa, 50'000),
              2.0 * 64 * 128 * 50'000);
}

TEST(Flop, ARecurrenceKnowsNoContext) {
    const auto mixer = load_model("kimi-k3").shape.layers.front().mixer;
    EXPECT_EQ(keys_met(mixer, 1e6), 0);
    EXPECT_EQ(decode_attention_flop(mixer, 1e6), 6.0 * 96 * 128 * 128);
}

TEST(Flop, UnknownFormulaIsAnError) {
    EXPECT_THROW(flop_formula("mfu"), UsageError);
}

TEST(Counts, DistinctExpertsAreFewerThanTokensTimesTopK) {
    const auto experts = load_model("deepseek-v3").shape.layers.back().feed_forward;
    EXPECT_EQ(distinct_experts(experts, 1), 8);
    EXPECT_NEAR(distinct_experts(experts, 32), 256 * (1 - std::pow(1 - 8 / 256.0, 32)), 1e-9);
    EXPECT_LT(distinct_experts(experts, 32), 256);
    EXPECT_NEAR(distinct_experts(experts, 1e6), 256, 1e-9);
    EXPECT_EQ(distinct_experts(load_model("llama3-8b").shape.layers[0].feed_forward, 8), 0);
}

}  // namespace
}  // namespace assay::model
