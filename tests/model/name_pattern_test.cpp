#include "model/name_pattern.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace assay::model {
namespace {

bool matches(std::string_view expression, std::string_view name) {
    return NamePattern::expression(expression).matches(name);
}

TEST(NamePattern, ExpressionsMatchFromTheBeginning) {
    EXPECT_TRUE(matches(".*self_attn.*", "model.layers.0.self_attn.q_proj"));
    EXPECT_FALSE(matches("self_attn", "model.layers.0.self_attn.q_proj"));
    EXPECT_TRUE(matches("model", "model.layers.0"));
    EXPECT_FALSE(matches("model$", "model.layers.0"));
    EXPECT_TRUE(matches("", "anything"));
}

TEST(NamePattern, ReadsWhatQuantisationListsUse) {
    const auto* dense = ".*mlp\\.(gate|up|gate_up|down)_proj.*";
    EXPECT_TRUE(matches(dense, "model.layers.0.mlp.gate_up_proj"));
    EXPECT_TRUE(matches(dense, "model.layers.0.mlp.down_proj"));
    EXPECT_FALSE(matches(dense, "model.layers.0.mlp.experts.0.down_proj"));
    EXPECT_TRUE(matches(".*\\.mlp\\.gate$", "model.layers.3.mlp.gate"));
    EXPECT_FALSE(matches(".*\\.mlp\\.gate$", "model.layers.3.mlp.gate_proj"));
    EXPECT_TRUE(matches("model\\.layers\\.\\d+\\.mlp", "model.layers.12.mlp"));
    EXPECT_TRUE(matches("model.layers.(?:[0-3]|1[^0-8])$", "model.layers.19"));
    EXPECT_FALSE(matches("model.layers.(?:[0-3]|1[^0-8])$", "model.layers.18"));
    EXPECT_TRUE(matches("^(a+b?)+?c", "aabac"));
    EXPECT_FALSE(matches("^(a+b?)+?c", "abbc"));
    EXPECT_TRUE(matches("\\w+\\.x", "a_1.x"));
}

TEST(NamePattern, EndingsAndPartsAreWhole) {
    EXPECT_TRUE(NamePattern::ending("lm_head").matches("lm_head"));
    EXPECT_TRUE(NamePattern::ending("lm_head").matches("language_model.lm_head"));
    EXPECT_FALSE(NamePattern::ending("head").matches("lm_head"));
    EXPECT_FALSE(NamePattern::ending("model").matches("model.layers.0"));
    const auto attention = NamePattern::parts("model.layers.*.self_attn");
    EXPECT_TRUE(attention.matches("model.layers.11.self_attn.o_proj"));
    EXPECT_FALSE(attention.matches("model.layers.11.mlp.up_proj"));
    EXPECT_FALSE(NamePattern::parts("gate").matches("model.layers.1.mlp.gate_proj"));
    EXPECT_TRUE(NamePattern::parts("gate").matches("model.layers.1.mlp.gate"));
    EXPECT_FALSE(NamePattern::parts("model.layers.1").matches("model.layers.11.mlp"));
    EXPECT_TRUE(
        NamePattern::parts("layers.1.self_attn*").matches("model.layers.1.self_attn.o_proj"));
    EXPECT_TRUE(NamePattern::parts("model.layers.1*").matches("model.layers.11.mlp"));
    EXPECT_TRUE(NamePattern::parts("*.attn.*").matches("layers.0.attn.wo_a"));
    EXPECT_FALSE(NamePattern::parts("*.attn.*").matches("layers.0.linear_attn.wo_a"));
}

// A matcher that tries every way would need 2^40 steps.
TEST(NamePattern, TakesNoLongerForAnyPattern) {
    EXPECT_FALSE(matches("(a*)*(a*)*(a|aa)+$", std::string(40, 'a') + "b"));
}

TEST(NamePattern, WhatIsntReadIsNamed) {
    for (const auto* bad : {"(", ")", "[a", "a{2}", "*a", "(?=a)", "\\b", "a\\", "(?<n>a)"}) {
        EXPECT_THROW(NamePattern::expression(bad), UsageError) << bad;
    }
    EXPECT_THROW(NamePattern::expression(std::string(1001, 'a')), UsageError);
    EXPECT_THROW(NamePattern::expression(std::string(100, '(') + std::string(100, ')')),
                 UsageError);
}

}  // namespace
}  // namespace assay::model
