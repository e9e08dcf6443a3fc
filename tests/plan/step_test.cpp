#include "plan/step.h"

#include <cmath>

#include <gmock/gmock.h>

#include "model/counts.h"
#include "model/flop.h"
#include "plan/planned_model.h"

namespace assay::plan {
namespace {

using model::Layout;

constexpr double kFree = 1e30;  // a rate that costs nothing

// Only what a test sets takes time.
Speeds ideal() {
    Speeds speeds;
    speeds.product = {{"bf16", kFree}, {"fp8", kFree}, {"fp4", kFree}};
    speeds.memory = kFree;
    speeds.attention = speeds.grouped = speeds.recurrence = 1;
    speeds.fabric = {.inside = {0, kFree}, .domain = 1'000'000, .outside = {0, kFree}};
    return speeds;
}

const ComputeTypes kTypes{"bf16", "bf16"};

// A router or a projection to a latent width is of the experts' part, and every token's.
double bytes_of(const model::HeldLayer& layer, double expert_share) {
    double bytes = 0;
    for (const auto& piece : layer.pieces) {
        const bool routed = piece.divided == model::Piece::Divided::by_expert;
        bytes += piece.bytes * (routed ? expert_share : 1);
    }
    return bytes;
}

TEST(Step, ADecodeStepReadsWeightsAndCacheOnce) {
    const PlannedModel llama("llama3-8b");
    Speeds speeds = ideal();
    speeds.memory = 1e12;
    const Batch batch{.sequences = 4, .new_tokens = 1, .context = 1999};
    double bytes =
        4 * 2000.0 * model::cache_bytes_per_token(llama.model().shape, llama.use().cache);
    for (const auto& layer : llama.holdings().layers) bytes += bytes_of(layer, 1);
    for (const auto& piece : llama.holdings().output) bytes += piece.bytes;
    const auto time = pipeline_time(llama.step(), {}, batch, speeds, kTypes);
    EXPECT_NEAR(time.total(), bytes / 1e12, 1e-9 * bytes / 1e12);
    EXPECT_NEAR(time.memory_bound, time.total(), 1e-12);
}

TEST(Step, APrefillComputesWhatTheFormulasCount) {
    const PlannedModel llama("llama3-8b");
    Speeds speeds = ideal();
    speeds.product["bf16"] = 1e15;
    const Batch batch{.sequences = 1, .new_tokens = 4096, .all_logits = true, .absorbed = false};
    const auto& shape = llama.model().shape;
    double flop = model::weight_flop(shape) * 4096;
    for (const auto& layer : shape.layers) {
        flop += model::prefill_attention_flop(layer.mixer, 4096) * 4096;
    }
    const auto time = pipeline_time(llama.step(), {}, batch, speeds, kTypes);
    EXPECT_NEAR(time.total() * 1e15 / flop, 1, 1e-3);  // norms and their like beside matrices
}

// Chunks add up to the whole prompt.
TEST(Step, AttentionOfChunksAddsUp) {
    for (const char* name : {"llama3-8b", "kimi-k3", "gpt-oss-20b"}) {
        const PlannedModel model(name);
        Speeds speeds = ideal();
        speeds.attention = 1e-15;  // of the product rate
        const auto attention = [&](double context, double tokens) {
            return pipeline_time(model.step(), {},
                                 {.new_tokens = tokens, .context = context, .absorbed = false},
                                 speeds, kTypes)
                .attention;
        };
        const double whole = attention(0, 6000);
        EXPECT_NEAR(attention(0, 2000) + attention(2000, 4000), whole, 1e-9 * whole) << name;
    }
}

TEST(Step, MoreRequestsReadMoreExpertsButNeverMoreThanAll) {
    const PlannedModel moe("mixtral-8x7b");
    Speeds speeds = ideal();
    speeds.memory = 1e12;
    double before = 0;
    for (const double sequences : {1., 2., 4., 16., 4096.}) {
        const auto time = pipeline_time(moe.step(), {}, {.sequences = sequences}, speeds, kTypes);
        double expected = 0;
        for (const auto& layer : moe.holdings().layers) {
            const double share = 1 - std::pow(1 - 2.0 / 8, sequences);
            expected += bytes_of(layer, share) - bytes_of(layer, 0);
        }
        EXPECT_NEAR(time.experts, expected / 1e12, 1e-9 * time.experts) << sequences;
        EXPECT_GT(time.experts, before);
        before = time.experts;
    }
}

TEST(Step, EveryWidthDividesTheWork) {
    const PlannedModel deepseek("deepseek-v3");
    Speeds speeds = ideal();
    speeds.product = {{"bf16", 1e15}};
    const Batch batch{.sequences = 64, .new_tokens = 64, .absorbed = false};
    const auto experts = [&](const Layout& layout, double sequences) {
        Batch part = batch;
        part.sequences = sequences;
        return pipeline_time(deepseek.step(), layout, part, speeds, kTypes).experts;
    };
    const double alone = experts({}, 64);
    EXPECT_NEAR(experts({.tensor = 8}, 64), alone / 8, 1e-9 * alone);
    EXPECT_NEAR(experts({.tensor = 8, .expert = 8}, 64), alone / 8, 1e-9 * alone);
    // Each of eight replicas has an eighth of the requests.
    EXPECT_NEAR(experts({.tensor = 1, .expert = 8, .data = 8}, 8), alone / 8, 1e-9 * alone);
    // Stages follow each other: together they take as long.
    EXPECT_NEAR(experts({.pipeline = 2}, 64), alone, 1e-9 * alone);
}

TEST(Step, TensorParallelismReducesTwiceALayer) {
    const PlannedModel llama("llama3-8b");
    Speeds speeds = ideal();
    speeds.fabric.inside.latency_s = 1;
    const auto time = pipeline_time(llama.step(), {.tensor = 8}, {}, speeds, kTypes);
    // Two messages each, and one for the logits.
    EXPECT_NEAR(time.collectives, 32 * 2 * 2 + 1, 1e-6);
    EXPECT_EQ(pipeline_time(llama.step(), {}, {}, speeds, kTypes).collectives, 0);
}

TEST(Step, ExpertsBeyondTheTensorGroupSendTokensThereAndBack) {
    const PlannedModel deepseek("deepseek-v3");
    Speeds speeds = ideal();
    speeds.fabric.inside.latency_s = 1;
    const auto time = pipeline_time(deepseek.step(), {.expert = 8, .data = 8}, {}, speeds, kTypes);
    EXPECT_NEAR(time.collectives, 58 * 2, 1e-6);  // 61 layers, 3 of them dense
}

// 96 heads over 8 ranks are 12 each, which the kernel pads to 16: they cost as much as 16.
TEST(Step, PaddedHeadsCostTime) {
    const PlannedModel k3("kimi-k3");
    Speeds speeds = ideal();
    speeds.attention = 1e-15;
    const Batch batch{.sequences = 1, .new_tokens = 1, .context = 8191};
    const double alone = pipeline_time(k3.step(), {}, batch, speeds, kTypes).attention;
    const double eighth = pipeline_time(k3.step(), {.tensor = 8}, batch, speeds, kTypes).attention;
    EXPECT_NEAR(eighth / alone, 16.0 / 96, 1e-9);
}

TEST(Step, ASlowerStageHoldsAPipelineUp) {
    const PlannedModel llama("llama3-8b");
    Speeds speeds = ideal();
    speeds.memory = 1e12;
    const Layout layout{.pipeline = 4};
    const auto whole = pipeline_time(llama.step(), layout, {}, speeds, kTypes).total();
    const auto slowest = slowest_stage(llama.step(), layout, {}, speeds, kTypes);
    EXPECT_GE(slowest, whole / 4);
    EXPECT_LT(slowest, whole);
}

}  // namespace
}  // namespace assay::plan
