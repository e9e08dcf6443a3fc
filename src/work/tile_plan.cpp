#include "work/tile_plan.h"

#include <algorithm>

namespace assay::work {

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

TilePlan plan_tiles(const Mask& mask, std::int64_t queries, std::int64_t keys,
                    std::int64_t query_tile, std::int64_t key_tile) {
    TilePlan plan;
    plan.query_tile = query_tile;
    plan.key_tile = key_tile;
    plan.query_tiles = (queries + query_tile - 1) / query_tile;
    plan.key_tiles = (keys + key_tile - 1) / key_tile;
    const MaskRows rows(mask, queries, keys);
    std::vector<std::int64_t> pairs(static_cast<std::size_t>(plan.key_tiles));
    plan.first.push_back(0);
    for (std::int64_t r = 0; r < plan.query_tiles; ++r) {
        std::ranges::fill(pairs, 0);
        const auto end = std::min(queries, (r + 1) * query_tile);
        const auto height = end - r * query_tile;
        for (auto query = r * query_tile; query < end; ++query) {
            for (const auto& span : rows.seen(query)) {
                for (auto tile = span.lo / key_tile; tile * key_tile < span.hi; ++tile) {
                    pairs[static_cast<std::size_t>(tile)] +=
                        std::min(span.hi, (tile + 1) * key_tile) -
                        std::max(span.lo, tile * key_tile);
                }
            }
        }
        for (std::int64_t tile = 0; tile < plan.key_tiles; ++tile) {
            const auto seen = pairs[static_cast<std::size_t>(tile)];
            if (seen == 0) continue;
            const auto width = std::min(keys, (tile + 1) * key_tile) - tile * key_tile;
            plan.tiles.push_back({static_cast<std::int32_t>(tile), seen == height * width});
        }
        plan.first.push_back(static_cast<std::int32_t>(plan.tiles.size()));
    }
    return plan;
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
