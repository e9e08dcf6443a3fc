#include "work/tile_plan.h"

#include <algorithm>

namespace assay::work {
namespace {

std::int64_t tiles_over(std::int64_t length, std::int64_t tile) {
    return (length + tile - 1) / tile;
}

// How much is seen of each tile of one row of them.
class RowOfTiles {
  public:
    RowOfTiles(const Mask& mask, std::int64_t queries, std::int64_t keys, std::int64_t query_tile,
               std::int64_t key_tile)
        : rows_(mask, queries, keys),
          query_tile_(query_tile),
          key_tile_(key_tile),
          seen_(static_cast<std::size_t>(tiles_over(keys, key_tile))),
          crossed_(seen_.size() + 1) {}

    void go_to(std::int64_t row) {
        std::ranges::fill(seen_, 0);
        std::ranges::fill(crossed_, 0);
        const auto end = std::min(rows_.queries(), (row + 1) * query_tile_);
        height_ = end - row * query_tile_;
        for (auto query = row * query_tile_; query < end; ++query) {
            for (const auto& span : rows_.seen(query)) add(span);
        }
        std::int64_t crossing = 0;
        for (std::size_t tile = 0; tile < seen_.size(); ++tile) {
            crossing += crossed_[tile];
            seen_[tile] += crossing * key_tile_;
        }
    }
    std::int64_t seen(std::int64_t tile) const { return seen_[static_cast<std::size_t>(tile)]; }
    // All pairs of the tile that exist.
    std::int64_t pairs(std::int64_t tile) const {
        return height_ * (std::min(rows_.keys(), (tile + 1) * key_tile_) - tile * key_tile_);
    }

  private:
    // Tiles between the first and the last one of a span are seen in their whole width: where that
    // begins and ends is noted, or a long row would take as many steps as it has tiles.
    void add(const KeySpan& span) {
        const auto first = static_cast<std::size_t>(span.lo / key_tile_);
        const auto last = static_cast<std::size_t>((span.hi - 1) / key_tile_);
        if (first == last) {
            seen_[first] += span.size();
            return;
        }
        seen_[first] += static_cast<std::int64_t>(first + 1) * key_tile_ - span.lo;
        seen_[last] += span.hi - static_cast<std::int64_t>(last) * key_tile_;
        ++crossed_[first + 1];
        --crossed_[last];
    }

    MaskRows rows_;
    std::int64_t query_tile_, key_tile_, height_ = 0;
    std::vector<std::int64_t> seen_;     // pairs, by tile
    std::vector<std::int64_t> crossed_;  // queries that see a tile's whole width, less the tile's
                                         // before it
};

}  // namespace

std::int64_t TilePlan::full_tiles() const {
    return std::ranges::count_if(tiles, [](const Tile& tile) { return tile.full; });
}

std::int64_t TilePlan::partial_tiles() const {
    return static_cast<std::int64_t>(tiles.size()) - full_tiles();
}

std::int64_t TilePlan::empty_tiles() const {
    return query_tiles * key_tiles - static_cast<std::int64_t>(tiles.size());
}

double TilePlan::density() const {
    const auto all = static_cast<double>(query_tiles * key_tiles);
    return all > 0 ? static_cast<double>(tiles.size()) / all : 0;
}

double TileCounts::density() const {
    return all() > 0 ? static_cast<double>(full + partial) / static_cast<double>(all()) : 0;
}

TileCounts& TileCounts::operator+=(const TileCounts& more) {
    full += more.full;
    partial += more.partial;
    empty += more.empty;
    pairs += more.pairs;
    return *this;
}

TileCounts operator*(std::int64_t times, TileCounts counts) {
    return {times * counts.full, times * counts.partial, times * counts.empty,
            times * counts.pairs};
}

TilePlan plan_tiles(const Mask& mask, std::int64_t queries, std::int64_t keys,
                    std::int64_t query_tile, std::int64_t key_tile) {
    TilePlan plan;
    plan.query_tile = query_tile;
    plan.key_tile = key_tile;
    plan.query_tiles = tiles_over(queries, query_tile);
    plan.key_tiles = tiles_over(keys, key_tile);
    plan.first.push_back(0);
    RowOfTiles row(mask, queries, keys, query_tile, key_tile);
    for (std::int64_t r = 0; r < plan.query_tiles; ++r) {
        row.go_to(r);
        for (std::int64_t tile = 0; tile < plan.key_tiles; ++tile) {
            const auto seen = row.seen(tile);
            if (seen == 0) continue;
            plan.tiles.push_back({static_cast<std::int32_t>(tile), seen == row.pairs(tile)});
        }
        plan.first.push_back(static_cast<std::int64_t>(plan.tiles.size()));
    }
    return plan;
}

TileCounts count_tiles(const Mask& mask, std::int64_t queries, std::int64_t keys,
                       std::int64_t query_tile, std::int64_t key_tile) {
    TileCounts counts;
    RowOfTiles row(mask, queries, keys, query_tile, key_tile);
    for (std::int64_t r = 0; r < tiles_over(queries, query_tile); ++r) {
        row.go_to(r);
        for (std::int64_t tile = 0; tile < tiles_over(keys, key_tile); ++tile) {
            const auto seen = row.seen(tile), pairs = row.pairs(tile);
            if (seen > 0) counts.pairs += pairs;
            ++(seen == 0 ? counts.empty : seen == pairs ? counts.full : counts.partial);
        }
    }
    return counts;
}

TilePlan turned(const TilePlan& plan) {
    TilePlan by_key;
    by_key.query_tile = plan.query_tile;
    by_key.key_tile = plan.key_tile;
    by_key.query_tiles = plan.query_tiles;
    by_key.key_tiles = plan.key_tiles;
    by_key.first.assign(static_cast<std::size_t>(plan.key_tiles) + 1, 0);
    for (const auto& tile : plan.tiles) {
        ++by_key.first[static_cast<std::size_t>(tile.key_tile) + 1];
    }
    for (std::size_t i = 1; i < by_key.first.size(); ++i) by_key.first[i] += by_key.first[i - 1];
    by_key.tiles.resize(plan.tiles.size());
    auto next = by_key.first;
    for (std::int64_t r = 0; r < plan.query_tiles; ++r) {
        for (auto t = plan.first[static_cast<std::size_t>(r)];
             t < plan.first[static_cast<std::size_t>(r) + 1]; ++t) {
            const auto& tile = plan.tiles[static_cast<std::size_t>(t)];
            auto& place = next[static_cast<std::size_t>(tile.key_tile)];
            by_key.tiles[static_cast<std::size_t>(place++)] = {static_cast<std::int32_t>(r),
                                                               tile.full};
        }
    }
    return by_key;
}

}  // namespace assay::work
