#include "cpu/attention_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cpu/attention_kernels.h"

namespace assay::cpu {

using work::AttentionTensor;

AttentionShape::AttentionShape(const work::Attention& problem, std::int64_t queries,
                               std::int64_t keys)
    : group_(problem.heads / problem.kv_heads),
      heads_a_tile_(queries == 0 ? 1
                                 : static_cast<int>(
                                       std::clamp<std::int64_t>(kQueryTile / queries, 1, group_))),
      head_tiles_((group_ + heads_a_tile_ - 1) / heads_a_tile_),
      rows_(problem.mask, queries, keys),
      plan_(work::plan_tiles(problem.mask, queries, keys, kQueryTile, kKeyTile)) {
    row_costs_.push_back(0);
    for (std::int64_t t = 0; t < plan_.query_tiles; ++t) {
        const auto tiles =
            plan_.first[static_cast<std::size_t>(t) + 1] - plan_.first[static_cast<std::size_t>(t)];
        for (std::int64_t h = 0; h < head_tiles_; ++h) {
            row_costs_.push_back(row_costs_.back() + tiles);
        }
    }
    key_costs_.assign(static_cast<std::size_t>(plan_.key_tiles) + 1, 0);
    for (const auto& tile : plan_.tiles) {
        key_costs_[static_cast<std::size_t>(tile.key_tile) + 1] += head_tiles_;
    }
    for (std::size_t t = 1; t < key_costs_.size(); ++t) key_costs_[t] += key_costs_[t - 1];
}

RowTile AttentionShape::row_tile(std::int64_t kv_head, std::int64_t index) const {
    const auto tile = index / head_tiles_;
    const auto head = index % head_tiles_ * heads_a_tile_;
    return {.head = kv_head * group_ + head,
            .query = tile * kQueryTile,
            .heads = static_cast<int>(std::min<std::int64_t>(heads_a_tile_, group_ - head)),
            .queries =
                static_cast<int>(std::min<std::int64_t>(kQueryTile, queries() - tile * kQueryTile)),
            .plan_tile = tile};
}

const work::Tile* AttentionShape::tiles(const RowTile& tile, std::int64_t first) const {
    const auto* begin = plan_.tiles.data() + plan_.first[static_cast<std::size_t>(tile.plan_tile)];
    return std::lower_bound(begin, tiles_end(tile), first,
                            [](const work::Tile& t, std::int64_t key) { return t.key_tile < key; });
}

const work::Tile* AttentionShape::tiles_end(const RowTile& tile) const {
    return plan_.tiles.data() + plan_.first[static_cast<std::size_t>(tile.plan_tile) + 1];
}

std::int64_t AttentionShape::cost_of_rows(std::int64_t first, std::int64_t end) const {
    return row_costs_[static_cast<std::size_t>(end)] - row_costs_[static_cast<std::size_t>(first)];
}

std::int64_t AttentionShape::cost_of_keys(std::int64_t first, std::int64_t end) const {
    return key_costs_[static_cast<std::size_t>(end)] - key_costs_[static_cast<std::size_t>(first)];
}

AttentionPlan::AttentionPlan(const work::Attention& problem) : problem_(problem) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> known;
    std::int64_t queries_before = 0, keys_before = 0;
    for (std::int64_t entry = 0; entry < problem.batch; ++entry) {
        const auto queries = work::queries_of(problem, entry);
        const auto keys = work::keys_of(problem, entry);
        const auto [found, added] = known.try_emplace({queries, keys}, shapes_.size());
        if (added) shapes_.push_back(std::make_unique<AttentionShape>(problem, queries, keys));
        shape_of_.push_back(found->second);
        auto& starts = starts_.emplace_back();
        for (int t = 0; t < work::kAttentionTensors; ++t) {
            const auto tensor = static_cast<AttentionTensor>(t);
            const auto& strides = problem.of(tensor);
            const auto before = work::is_of_queries(tensor) ? queries_before : keys_before;
            const bool back_to_back = problem.ragged() && strides.batch == 0;
            starts[static_cast<std::size_t>(t)] =
                back_to_back ? before * strides.row : entry * strides.batch;
        }
        queries_before += queries;
        keys_before += keys;
    }
}

std::vector<AttentionJob> AttentionPlan::jobs(AttentionJob::Kind kind, std::int64_t tiles,
                                              int threads) const {
    using Kind = AttentionJob::Kind;
    const bool of_keys = kind == Kind::keys;
    const auto tiles_of = [&](const AttentionShape& shape) {
        return of_keys ? shape.key_tiles() : shape.row_tiles();
    };
    std::int64_t all = 0;
    for (std::int64_t entry = 0; entry < problem_.batch; ++entry) all += tiles_of(shape(entry));
    constexpr std::int64_t kJobsAThread = 4;
    const auto fair = all * problem_.kv_heads / (kJobsAThread * threads);
    const auto step = std::clamp<std::int64_t>(fair, 1, tiles);
    std::vector<AttentionJob> jobs;
    for (std::int64_t entry = 0; entry < problem_.batch; ++entry) {
        const auto& of_entry = shape(entry);
        const auto count = tiles_of(of_entry);
        for (std::int64_t head = 0; head < problem_.kv_heads; ++head) {
            if (kind == Kind::both) {
                if (of_entry.queries() == 0 && of_entry.keys() == 0) continue;
                jobs.push_back({kind, entry, head, 0, of_entry.key_tiles(),
                                of_entry.cost_of_keys(0, of_entry.key_tiles())});
                continue;
            }
            for (std::int64_t first = 0; first < count; first += step) {
                const auto end = std::min(count, first + step);
                const auto cost =
                    of_keys ? of_entry.cost_of_keys(first, end) : of_entry.cost_of_rows(first, end);
                jobs.push_back({kind, entry, head, first, end, cost});
            }
        }
    }
    std::ranges::stable_sort(jobs, std::ranges::greater(), &AttentionJob::cost);
    return jobs;
}

std::int64_t AttentionPlan::most_row_tiles() const {
    std::int64_t most = 0;
    for (const auto& shape : shapes_) most = std::max(most, shape->row_tiles());
    return most;
}

std::int64_t makespan(const std::vector<AttentionJob>& jobs, int threads) {
    std::vector<std::int64_t> busy(static_cast<std::size_t>(threads));
    for (const auto& job : jobs) *std::ranges::min_element(busy) += job.cost;
    return std::ranges::max(busy);
}

}  // namespace assay::cpu
