#include "probes/attention_shapes.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::probes {
namespace {

TEST(AttentionShapes, AreThoseOfTheShippedModels) {
    const struct {
        const char* model;
        std::int64_t tp, heads, kv_heads, dim, value_dim, window;
    } rows[]{
        {"gpt2-1.5b", 1, 25, 25, 64, 64, 0},      {"llama3-8b", 1, 32, 8, 128, 128, 0},
        {"llama3-8b", 8, 4, 1, 128, 128, 0},      {"llama3-70b", 8, 8, 1, 128, 128, 0},
        {"llama3-70b", 16, 4, 1, 128, 128, 0},    {"llama3-70b-4l", 1, 64, 8, 128, 128, 0},
        {"mistral-7b", 2, 16, 4, 128, 128, 4096}, {"deepseek-v3", 1, 128, 128, 192, 128, 0},
        {"deepseek-v3", 8, 16, 16, 192, 128, 0},  {"kimi-k3", 8, 12, 12, 192, 128, 0},
    };
    for (const auto& row : rows) {
        const auto shapes = attention_shapes(row.model, row.tp);
        ASSERT_EQ(shapes.size(), 1U) << row.model;
        const auto& shape = shapes[0];
        EXPECT_EQ(shape.heads, row.heads) << row.model;
        EXPECT_EQ(shape.kv_heads, row.kv_heads) << row.model;
        EXPECT_EQ(shape.dim, row.dim) << row.model;
        EXPECT_EQ(shape.value_dim, row.value_dim) << row.model;
        EXPECT_EQ(shape.window.value_or(0), row.window) << row.model;
        EXPECT_TRUE(shape.layer.starts_with(row.model));
    }
}

TEST(AttentionShapes, AModelWithTwoKindsOfLayersHasTwo) {
    const auto shapes = attention_shapes("gpt-oss-20b", 1);
    ASSERT_EQ(shapes.size(), 2U);
    EXPECT_NE(shapes[0].window, shapes[1].window);
}

TEST(AttentionShapes, HeadsMustDivide) {
    EXPECT_THROW(attention_shapes("gpt2-1.5b", 2), UsageError);
    EXPECT_THROW(attention_shapes("llama3-8b", 3), UsageError);
    EXPECT_THROW(attention_shapes("llama3-8b", 0), UsageError);
    EXPECT_THROW(attention_shapes("llama3-9b", 1), UsageError);
}

}  // namespace
}  // namespace assay::probes
