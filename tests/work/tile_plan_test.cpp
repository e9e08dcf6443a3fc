#include "work/tile_plan.h"

#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

namespace assay::work {
namespace {

TEST(TilePlan, AgreesWithEachPairOfTheMask) {
    for (const auto& [text, queries, keys] : {std::tuple{"full", 20, 33},
                                              {"causal", 33, 33},
                                              {"causal", 9, 40},
                                              {"causal", 40, 9},
                                              {"causal:bottom-right", 9, 40},
                                              {"causal:bottom-right", 40, 9},
                                              {"causal+window:5", 40, 40},
                                              {"window:9", 33, 40},
                                              {"causal+prefix:11", 40, 40},
                                              {"causal+document:7/1/12/20", 40, 40},
                                              {"document:skewed:4", 40, 40},
                                              {"blocks:16:0-1/1/2", 40, 40},
                                              {"causal+blocks:5:0/0,1/2/3/0,4/5/0,6/7", 40, 40}}) {
        const auto mask = parse_mask(text, queries, keys);
        const MaskRows rows(mask, queries, keys);
        const auto plan = plan_tiles(mask, queries, keys, 8, 6);
        TileCounts counts;
        ASSERT_EQ(plan.query_tiles, (queries + 7) / 8);
        ASSERT_EQ(plan.key_tiles, (keys + 5) / 6);
        ASSERT_EQ(plan.first.size(), static_cast<std::size_t>(plan.query_tiles) + 1);
        for (std::int64_t r = 0; r < plan.query_tiles; ++r) {
            const auto begin = plan.tiles.begin() + plan.first[static_cast<std::size_t>(r)];
            const auto end = plan.tiles.begin() + plan.first[static_cast<std::size_t>(r) + 1];
            EXPECT_TRUE(std::is_sorted(
                begin, end, [](const Tile& a, const Tile& b) { return a.key_tile < b.key_tile; }));
            for (std::int64_t c = 0; c < plan.key_tiles; ++c) {
                int seen = 0, all = 0;
                for (auto i = 8 * r; i < std::min<std::int64_t>(8 * r + 8, queries); ++i) {
                    for (auto j = 6 * c; j < std::min<std::int64_t>(6 * c + 6, keys); ++j) {
                        ++all;
                        seen += rows.sees(i, j) ? 1 : 0;
                    }
                }
                const auto found =
                    std::find_if(begin, end, [&](const Tile& tile) { return tile.key_tile == c; });
                ASSERT_EQ(found != end, seen > 0) << text << ' ' << r << ' ' << c;
                ++(seen == 0 ? counts.empty : seen == all ? counts.full : counts.partial);
                if (seen > 0) counts.pairs += all;
                if (found == end) continue;
                EXPECT_EQ(found->full, seen == all) << text << ' ' << r;
            }
        }
        EXPECT_EQ(count_tiles(mask, queries, keys, 8, 6), counts) << text;
        EXPECT_EQ(plan.full_tiles(), counts.full) << text;
        EXPECT_EQ(plan.partial_tiles(), counts.partial) << text;
        EXPECT_EQ(plan.empty_tiles(), counts.empty) << text;
        EXPECT_EQ(plan.density(), counts.density()) << text;
    }
}

TEST(TilePlan, CountsTiles) {
    const auto mask = parse_mask("causal", 1024, 1024);
    const auto plan = plan_tiles(mask, 1024, 1024);
    EXPECT_EQ(plan.partial_tiles(), 8);
    EXPECT_EQ(plan.full_tiles(), 28);
    EXPECT_EQ(plan.empty_tiles(), 28);
    EXPECT_DOUBLE_EQ(plan.density(), 36.0 / 64);
}

TEST(TilePlan, TurnedHoldsTheSameTiles) {
    const auto mask = parse_mask("causal+window:9+document:7/13/20", 40, 40);
    const auto plan = plan_tiles(mask, 40, 40, 8, 6);
    const auto by_key = turned(plan);
    ASSERT_EQ(by_key.tiles.size(), plan.tiles.size());
    ASSERT_EQ(by_key.first.size(), static_cast<std::size_t>(plan.key_tiles) + 1);
    using Entry = std::tuple<std::int64_t, std::int64_t, bool>;
    const auto entries = [](const TilePlan& of, bool swapped) {
        std::vector<Entry> all;
        for (std::size_t r = 0; r + 1 < of.first.size(); ++r) {
            for (auto t = of.first[r]; t < of.first[r + 1]; ++t) {
                const auto& tile = of.tiles[static_cast<std::size_t>(t)];
                const auto row = static_cast<std::int64_t>(r);
                all.push_back(swapped ? Entry{tile.key_tile, row, tile.full}
                                      : Entry{row, tile.key_tile, tile.full});
            }
        }
        return all;
    };
    auto straight = entries(plan, false), back = entries(by_key, true);
    std::ranges::sort(back);
    EXPECT_EQ(straight, back);
}

TEST(TilePlan, ALongSequenceIsPlannedTileByTile) {
    constexpr std::int64_t n = 70'000;
    const auto mask = parse_mask("causal+window:4096", n, n);
    const auto plan = plan_tiles(mask, n, n);
    EXPECT_EQ(plan.query_tiles, 547);
    // Inner rows: 31 full tiles, the diagonal, and the one where the window begins.
    EXPECT_EQ(plan.first[301] - plan.first[300], 33);
}

TEST(TilePlan, CountsOfLongSequencesAreExact) {
    constexpr std::int64_t n = 70'000, rows = 547, last = n - 546 * 128;
    const auto causal = count_tiles(parse_mask("causal", n, n), n, n);
    EXPECT_EQ(causal, (TileCounts{rows * (rows - 1) / 2, rows, rows * (rows - 1) / 2,
                                  128 * 128 * (rows * (rows - 1) / 2) + last * n}));
    // Half a million tokens: 17 M tiles, and a list of them would be larger than the problem.
    constexpr std::int64_t long_n = 4096 * 128;
    const auto window =
        count_tiles(parse_mask("causal+window:256", long_n, long_n), long_n, long_n);
    EXPECT_EQ(window.full, 4095);
    EXPECT_EQ(window.partial, 4096 + 4094);
    EXPECT_EQ(window.all(), 4096 * 4096);
}

}  // namespace
}  // namespace assay::work
