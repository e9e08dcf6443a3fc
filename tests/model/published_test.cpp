// Sums that published figures give: what a checkpoint's own count holds beside the language model,
// and what its files weigh.
#include <gmock/gmock.h>

#include "base/files.h"
#include "model/config.h"
#include "model/counts.h"
#include "model/quantisation.h"

namespace assay::model {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::int64_t extra(const Transformer& shape, const std::string& what) {
    for (const auto& e : shape.extras) {
        if (e.what == what) return e.parameters;
    }
    return 0;
}

// safetensors.total of the repositories: language model, predicting layers, what is stored again,
// vision tower and scales add up to it.
TEST(Published, CheckpointTotalsAreMetWithTheirExtras) {
    const auto everything = [](const char* name) {
        return count(load_model(name).shape).everything();
    };
    EXPECT_EQ(everything("deepseek-v3"), 684'531'386'000);
    EXPECT_EQ(everything("deepseek-v3.2"), 685'396'921'376);
    EXPECT_EQ(everything("qwen3-30b-a3b-fp8"), 30'533'947'392);
    EXPECT_EQ(everything("minimax-m2.5"), 228'703'644'928);
    EXPECT_EQ(everything("gpt-oss-120b"), 120'412'337'472);
    EXPECT_EQ(everything("gpt-oss-20b"), 21'511'953'984);
    EXPECT_EQ(everything("glm-5"), 753'864'139'008);
    EXPECT_EQ(everything("qwen3.5-27b"), 27'781'427'952);
    EXPECT_EQ(everything("qwen3-vl-8b"), 8'767'123'696);
    // Of these the checkpoint stores the tied head again.
    EXPECT_EQ(everything("gemma-4-26b-a4b") + 262'144LL * 2816, 26'544'131'376);
    EXPECT_EQ(everything("qwen3-0.6b") + 151'936LL * 1024, 751'632'384);
    // 3,416 numbers of a trillion are not explained by its config.
    EXPECT_EQ(everything("kimi-k2"), 1'026'470'731'056 - 3'416);
}

TEST(Published, ScalesAreCountedByBlocks) {
    EXPECT_EQ(extra(load_model("deepseek-v3").shape, "block scales") +
                  extra(load_model("deepseek-v3").shape, "block scales of the predicting layers"),
              41'540'496);
    EXPECT_EQ(extra(load_model("gpt-oss-120b").shape, "block scales"), 36 * 128LL * 3 * 2880 * 90);
}

// Packed two to a byte, the experts of DeepSeek-V4-Flash make a total that is no parameter count;
// in the base model's 128x128 blocks they are whole, and there embedding and head are stored again.
TEST(Published, DeepSeekV4FlashCountsBothWays) {
    const auto model = load_model("deepseek-v4-flash");
    const auto counts = count(model.shape);
    std::int64_t experts = 0;
    const auto add = [&](const std::vector<Layer>& layers) {
        for (const auto& layer : layers) {
            for (const auto& t : layer.tensors) experts += t.copies > 1 ? t.parameters() : 0;
        }
    };
    add(model.shape.layers);
    add(model.shape.predictors);
    EXPECT_EQ(extra(model.shape, "tables of routing by token"), 3 * 129'280 * 6);
    EXPECT_EQ(counts.everything() - experts / 2, 158'069'433'298);

    const auto base = read_config(read_input_file(data_dir() / "models" / "deepseek-v4-flash.json"),
                                  "base", {.weights = "fp8_block"});
    EXPECT_EQ(count(base.shape).everything() + 2 * 129'280LL * 4096, 292'021'347'282);
}

TEST(Published, VisionTowersAreExtras) {
    EXPECT_EQ(extra(load_model("qwen3.5-27b").shape, "vision tower"), 460'730'096);
    EXPECT_EQ(extra(load_model("qwen3-vl-8b").shape, "vision tower"), 576'388'336);
    EXPECT_EQ(extra(load_model("gemma-4-26b-a4b").shape, "vision tower"), 572'792'112);
    EXPECT_EQ(count(load_model("gemma-3-27b").shape).everything(), 27'432'406'640);
    // Llama 4's, from the config of a checkpoint that has it.
    const auto llama = read_config(R"({"model_type": "llama4", "text_config": {
        "model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 1,
        "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
        "intermediate_size": 8192, "vocab_size": 202048, "attention_chunk_size": 8192},
        "vision_config": {"model_type": "llama4_vision_model", "hidden_size": 1408,
        "intermediate_size": 5632, "num_hidden_layers": 34, "patch_size": 14, "image_size": 336,
        "projector_input_dim": 4096, "projector_output_dim": 4096, "vision_output_dim": 4096}})",
                                   "llama4");
    EXPECT_EQ(extra(llama.shape, "vision tower"), 871'932'416);
}

TEST(Published, WhatAConfigCantTellIsSaid) {
    EXPECT_THAT(load_model("mimo-v2-flash").shape.unknown,
                ElementsAre("multi-token-prediction layers: the checkpoint has 3",
                            HasSubstr("of 309785318400 parameters (safetensors.total")));
    EXPECT_THAT(
        load_model("minimax-m2.5").shape.unknown,
        ElementsAre("weights of multi-token prediction: 3 layers declared, in no checkpoint"));
    EXPECT_THAT(load_model("llama4-maverick").shape.unknown,
                ElementsAre("the vision tower", HasSubstr("871932416 of 401583781376 parameters")));
    EXPECT_THAT(load_model("kimi-k3").shape.unknown, ElementsAre("the vision tower of 27 layers"));
    EXPECT_THAT(load_model("gpt2-1.5b").shape.unknown, Contains(HasSubstr("bf16 is taken")));
    EXPECT_THAT(load_model("llama3-8b").shape.unknown, IsEmpty());
}

TEST(Published, WeightsAreTheirBytes) {
    const auto bytes = [](const char* name) {
        const auto model = load_model(name);
        return weight_bytes(model.shape, model.storage);
    };
    EXPECT_EQ(bytes("llama2-70b").total(), 137'953'296'384.0);
    EXPECT_NEAR(bytes("bloom-176b").total(), 352e9, 1e9);
    // 1.561 TB published, with a vision tower whose tensors the config doesn't give.
    EXPECT_NEAR(bytes("kimi-k3").main, 1.561e12, 0.002 * 1.561e12);
    EXPECT_NEAR(bytes("kimi-k3").main, 1.5599e12, 0.0001e12);
}

// Its experts live in a space of half the width: wider ones would be 5.45 T.
TEST(Published, KimiK3sExpertsAreNarrow) {
    const auto shape = load_model("kimi-k3").shape;
    EXPECT_NEAR(static_cast<double>(count(shape).total), 2'779.5e9, 0.001 * 2'779.5e9);
    const auto& experts = shape.layers.at(1).feed_forward;
    EXPECT_EQ(experts.input_width, 3584);
    EXPECT_EQ(experts.shared, 2);
    EXPECT_EQ(shape.layers.front().kind(), "linear attention, dense 33792");
    EXPECT_EQ(shape.layers.at(3).kind(), "MLA, 896 experts of 3072");
}

}  // namespace
}  // namespace assay::model
