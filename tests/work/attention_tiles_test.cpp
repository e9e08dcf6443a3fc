#include "work/attention_tiles.h"

#include <gtest/gtest.h>

namespace assay::work {
namespace {

Attention causal(std::int64_t batch, std::int64_t rows) {
    Attention p;
    p.batch = batch;
    p.heads = 6;
    p.kv_heads = 2;
    p.queries = p.keys = rows;
    p.dim = 8;
    p.value_dim = 4;
    p.mask = parse_mask("causal", rows, rows);
    lay_out(p, AttentionLayout::bshd);
    return p;
}

TEST(AttentionTiles, AreCountedOverTheBatch) {
    const auto one = count_tiles(causal(1, 300));
    EXPECT_EQ(one, (TileCounts{3, 3, 3, 128 * 128 + 128 * 256 + 44 * 300}));
    EXPECT_EQ(count_tiles(causal(5, 300)), (TileCounts{15, 15, 15, 5 * one.pairs}));
}

TEST(AttentionTiles, OfRaggedEntriesAreAddedUp) {
    auto p = causal(3, 300);
    p.query_lengths = p.key_lengths = {300, 0, 100};
    lay_out(p, AttentionLayout::bshd);
    validate(p);
    const auto one = count_tiles(causal(1, 300));
    EXPECT_EQ(count_tiles(p), (TileCounts{3, 4, 3, one.pairs + 100 * 100}));
}

TEST(AttentionTiles, HaveTheFlopOfAllTheirPairs) {
    const auto p = causal(2, 300);
    const auto pairs = static_cast<double>(count_tiles(p).pairs);
    EXPECT_EQ(tile_flop(p, AttentionPass::forward), 2 * 6 * pairs * (8 + 4));
    EXPECT_EQ(tile_flop(p, AttentionPass::backward), 2 * 6 * pairs * (3 * 8 + 2 * 4));
    auto full = p;
    full.mask = {};
    EXPECT_EQ(tile_flop(full, AttentionPass::forward), dense_flop(p, AttentionPass::forward));
}

}  // namespace
}  // namespace assay::work
