// Which tiles of the score matrix have to be computed, and which of them need the mask's every
// element looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "work/mask.h"

namespace assay::work {

struct Tile {
    std::int32_t key_tile = 0;
    bool full = false;  // every pair that exists is seen: its elements needn't be looked at
    bool operator==(const Tile&) const = default;
};

// Tiles of one problem, those without a visible pair left out. A tile at the edge counts as full
// when all pairs that lie within the problem are seen.
struct TilePlan {
    std::int64_t query_tile = 128, key_tile = 128;  // queries and keys of a tile
    std::int64_t query_tiles = 0, key_tiles = 0;
    // Tiles of query tile r, ascending: tiles[first[r]] to tiles[first[r + 1]].
    std::vector<std::int64_t> first;
    std::vector<Tile> tiles;

    std::int64_t full_tiles() const;
    std::int64_t partial_tiles() const;
    std::int64_t empty_tiles() const;
    // Computed tiles over all tiles: the density that a tiled kernel can reach.
    double density() const;
};

// How many there are, without a list of them.
struct TileCounts {
    std::int64_t full = 0, partial = 0, empty = 0;
    std::int64_t pairs = 0;  // of query and key that lie in full and partial tiles, seen or not

    std::int64_t all() const { return full + partial + empty; }
    // As TilePlan's.
    double density() const;
    TileCounts& operator+=(const TileCounts& more);
    friend TileCounts operator*(std::int64_t times, TileCounts counts);
    bool operator==(const TileCounts&) const = default;
};

// Both look at each row of the mask and at each tile, not at pairs: 70,000 tokens take
// milliseconds.
TilePlan plan_tiles(const Mask& mask, std::int64_t queries, std::int64_t keys,
                    std::int64_t query_tile = 128, std::int64_t key_tile = 128);

TileCounts count_tiles(const Mask& mask, std::int64_t queries, std::int64_t keys,
                       std::int64_t query_tile = 128, std::int64_t key_tile = 128);

// The same tiles by key tile: `key_tile` of each entry then names a query tile.
TilePlan turned(const TilePlan& plan);

}  // namespace assay::work
