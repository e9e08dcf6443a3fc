#include "probes/attention_problem.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::probes {
namespace {

using Lengths = std::vector<std::int64_t>;

AttentionCase attention_of(std::int64_t seq) {
    AttentionCase attention;
    auto& p = attention.problem;
    p.batch = 2;
    p.heads = 6;
    p.kv_heads = 3;
    p.queries = p.keys = seq;
    p.dim = p.value_dim = 8;
    work::lay_out(p, attention.layout);
    return attention;
}

TEST(AttentionProblem, ACaseReadsBackAsItWas) {
    auto plain = attention_of(16);
    plain.problem.type = work::Type::bf16;
    auto wide = plain;
    wide.problem.keys = 20;
    wide.problem.value_dim = 4;
    wide.problem.scale = 0.1;
    wide.problem.mask = work::parse_mask("causal:bottom-right+window:5", 16, 20);
    wide.problem.modifier = work::parse_score_modifier("softcap:50+alibi");
    wide.pass = work::AttentionPass::backward;
    wide.layout = work::AttentionLayout::bhsd;
    wide.inputs = work::Distribution::ints;
    wide.cache = CacheState::hot;
    wide.provider = "cudnn";
    wide.layer = "some model";
    work::lay_out(wide.problem, wide.layout);
    auto ragged = plain;
    set_lengths(ragged.problem, {3, 0, 9});
    ragged.layout = work::AttentionLayout::packed;
    work::lay_out(ragged.problem, ragged.layout);
    for (const auto& attention : {plain, wide, ragged}) {
        const auto what = to_case(attention);
        const auto back = attention_from_case(what);
        EXPECT_EQ(back.problem, attention.problem) << what.text();
        EXPECT_EQ(back.pass, attention.pass);
        EXPECT_EQ(back.layout, attention.layout);
        EXPECT_EQ(back.inputs, attention.inputs);
        EXPECT_EQ(back.cache, attention.cache);
        EXPECT_EQ(back.provider, attention.provider);
        EXPECT_EQ(back.layer, attention.layer);
        EXPECT_EQ(to_case(back).text(), what.text());
    }
}

TEST(AttentionProblem, ItsTextLeavesOutDefaults) {
    auto attention = attention_of(16);
    attention.problem.batch = 1;
    attention.problem.kv_heads = 6;
    attention.layer = "a name";
    EXPECT_EQ(to_case(attention).text(), "heads=6 seq=16 dim=8 dtype=bf16 pass=forward");
    attention.problem.mask = work::parse_mask("window:4+causal", 16, 16);
    EXPECT_EQ(to_case(attention).text(),
              "heads=6 seq=16 dim=8 dtype=bf16 mask=causal+window:4 pass=forward");
}

TEST(AttentionProblem, MaskWordsKeepHowDocumentsAreMade) {
    const auto words = [](const std::string& text) {
        const auto mask = work::parse_mask(text, 16, 16);
        const auto written = mask_words(text, mask);
        EXPECT_EQ(work::parse_mask(written, 16, 16), mask) << written;
        return written;
    };
    EXPECT_EQ(words("document:even:4+causal"), "causal+document:even:4");
    EXPECT_EQ(words("document:skewed:3"), "document:skewed:3");
    EXPECT_EQ(words("document:5/11+causal"), "causal+document:5/11");
    EXPECT_EQ(words("blocks:8:0/0-1"), "blocks:8:0/0-1");
    EXPECT_EQ(words("document:even:2+blocks:8:0/1+window:3"),
              "window:3+document:even:2+blocks:8:0/1");
    EXPECT_EQ(words("full"), "full");
}

TEST(AttentionProblem, AListOfMasksMayHoldBlocksWithCommas) {
    EXPECT_EQ(parse_mask_list("full,causal+window:4"),
              (std::vector<std::string>{"full", "causal+window:4"}));
    EXPECT_EQ(parse_mask_list("blocks:8:0,1/0-1,causal"),
              (std::vector<std::string>{"blocks:8:0,1/0-1", "causal"}));
}

TEST(AttentionProblem, ReadsLengths) {
    EXPECT_EQ(parse_lengths("7"), (Lengths{7}));
    EXPECT_EQ(parse_lengths("7/0/9"), (Lengths{7, 0, 9}));
    for (const auto* text : {"", "0/0", "/", "99999999999999999999", "no such file"}) {
        EXPECT_THROW(parse_lengths(text), Error) << text;
    }
}

TEST(AttentionProblem, TileDensityCountsTilesWithAVisiblePair) {
    auto p = attention_of(256).problem;
    EXPECT_EQ(tile_density(p), 1);
    p.mask = work::parse_mask("causal", 256, 256);
    EXPECT_EQ(tile_density(p), 0.75);
    set_lengths(p, {128, 256});  // one tile, and three of four
    EXPECT_EQ(tile_density(p), 0.8);
}

}  // namespace
}  // namespace assay::probes
