#include "model/cache.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "model/config.h"

namespace assay::model {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

struct Vector {
    const char* model;
    double context, gib, legacy_gib;
};
// unslothai/unsloth#4757: what these contexts take, and what a formula made that knows neither
// windows, latents nor head_dim: 2 x layers x kv heads x (hidden / heads) x context x 2 bytes, or
// something close to it.
constexpr Vector kVectors[]{{"gemma-3-27b", 131'072, 10.41, 81.38},
                            {"qwen3.5-27b", 262'144, 16.00, 53.25},
                            {"deepseek-v3", 163'840, 10.72, 2.08},
                            {"kimi-k2", 262'144, 17.16, 6.67},
                            {"qwen3-0.6b", 40'960, 4.38, 2.19}};

TEST(Cache, HoldsWhatTheLayersKeep) {
    for (const auto& row : kVectors) {
        const auto shape = load_model(row.model).shape;
        const double gib = cache_bytes(shape, row.context, cache_type("bf16")) / kGiB;
        EXPECT_NEAR(gib, row.gib, 0.01) << row.model;
        EXPECT_GT(std::abs(gib - row.legacy_gib), 1) << row.model;
    }
}

// 656 bytes a layer of a latent of 576, 132 of an indexer's key.
TEST(Cache, PackedLatentsHaveTheirScales) {
    const auto& packed = cache_type("fp8_ds_mla");
    EXPECT_EQ(cache_bytes_per_token(load_model("deepseek-v3").shape, packed), 61 * 656.0);
    EXPECT_EQ(cache_bytes_per_token(load_model("deepseek-v3.2").shape, packed), 48'068);
    EXPECT_EQ(cache_bytes_per_token(load_model("llama3-8b").shape, packed), 131'072 / 2.0);
}

TEST(Cache, TypeIsApartFromTheWeights) {
    const auto fp8_weights = load_model("llama3-8b", {.weights = "fp8"});
    EXPECT_EQ(cache_bytes_per_token(fp8_weights.shape, cache_type("bf16")), 131'072);
    EXPECT_EQ(cache_bytes_per_token(fp8_weights.shape, cache_type("fp8")), 65'536);
    EXPECT_THROW(cache_type("bf61"), UsageError);
}

TEST(Cache, GrowsToTheWindowAndNoFurther) {
    const auto shape = load_model("mistral-7b").shape;
    const auto& type = cache_type("fp16");
    EXPECT_EQ(cache_bytes(shape, 1000, type), 131'072'000);
    EXPECT_EQ(cache_bytes(shape, 4096, type), cache_bytes(shape, 32'768, type));
}

TEST(Cache, CompressedEntriesAppearWhenWhole) {
    const auto shape = load_model("deepseek-v4-flash").shape;
    const auto& mixer = shape.layers.at(3).mixer;  // one entry for 128 tokens
    const auto& type = cache_type("bf16");
    EXPECT_EQ(cache_bytes(mixer, 127, type), 127 * 1024);
    EXPECT_EQ(cache_bytes(mixer, 128, type), 129 * 1024);
    EXPECT_EQ(cache_bytes(mixer, 256, type), 130 * 1024);
}

// The published measure of MLA's bound: not the keys and values of 128 heads.
TEST(Cache, LatentIsTheHeadsOnlyCache) {
    const auto cache = load_model("deepseek-v3").shape.layers.front().mixer.cache;
    ASSERT_EQ(cache.size(), 1U);
    EXPECT_EQ(cache.front().elements, 576);
    EXPECT_EQ(cache.front().heads, 0);  // whole on every rank
}

}  // namespace
}  // namespace assay::model
