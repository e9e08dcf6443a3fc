#include "cuda/attention/plan.h"

#include <algorithm>
#include <map>

#include "work/tile_plan.h"

namespace assay::cuda {
namespace {

using work::AttentionTensor;

// Elements of 16 bits that kernels move at once where rows lie so.
constexpr std::int64_t kLoad = 8, kStore = 2;

Sight sight_of(const work::RowSpans& spans) {
    Sight sight;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        sight.start[i] = static_cast<std::int32_t>(spans[i].lo);
        sight.count[i] = static_cast<std::uint32_t>(spans[i].size());
    }
    return sight;
}

void add_tiles(AttentionPlan& plan, const work::Mask& mask, std::int64_t queries, std::int64_t keys,
               int query_tile, int key_tile, bool by_keys) {
    auto tiles = work::plan_tiles(mask, queries, keys, query_tile, key_tile);
    // A tile that sticks out beyond the keys has elements that must be hidden.
    for (auto& tile : tiles.tiles) {
        if ((std::int64_t{tile.key_tile} + 1) * key_tile > keys) tile.full = false;
    }
    if (by_keys) tiles = work::turned(tiles);
    const auto begin = static_cast<std::int64_t>(plan.tiles.size());
    for (const auto first : tiles.first) plan.first.push_back(begin + first);
    for (const auto& tile : tiles.tiles) {
        plan.tiles.push_back(coded_tile(tile.key_tile, tile.full));
    }
    const auto rows = static_cast<std::int32_t>(by_keys ? tiles.key_tiles : tiles.query_tiles);
    plan.tile_rows = std::max(plan.tile_rows, rows);
}

void add_blocks(AttentionPlan& plan, const work::BlockList& blocks, std::int64_t keys) {
    const auto columns = (keys + blocks.size - 1) / blocks.size;
    plan.block_size = static_cast<std::int32_t>(blocks.size);
    plan.block_words = static_cast<std::int32_t>((columns + 31) / 32);
    const auto words = static_cast<std::size_t>(plan.block_words);
    plan.blocks.resize(blocks.rows.size() * words);
    for (std::size_t r = 0; r < blocks.rows.size(); ++r) {
        for (const auto column : blocks.rows[r]) {
            plan.blocks[r * words + static_cast<std::size_t>(column / 32)] |= 1U << (column % 32);
        }
    }
}

std::int64_t start_of(const Entry& entry, AttentionTensor tensor) {
    switch (tensor) {
        case AttentionTensor::q:
            return entry.q;
        case AttentionTensor::k:
            return entry.k;
        case AttentionTensor::v:
            return entry.v;
        case AttentionTensor::o:
            return entry.o;
        case AttentionTensor::lse:
            break;
    }
    return entry.lse;
}

// Whether every row begins at a multiple of `elements`, and has one of them, where the tensor's
// address is one.
bool rows_align(const work::Attention& problem, const AttentionPlan& plan, AttentionTensor tensor,
                std::int64_t elements) {
    const auto& strides = problem.of(tensor);
    return strides.row % elements == 0 && strides.head % elements == 0 &&
           work::width_of(problem, tensor) % elements == 0 &&
           std::ranges::all_of(plan.entries, [&](const Entry& entry) {
               return start_of(entry, tensor) % elements == 0;
           });
}

RowsOf rows_of(const work::Attention& problem, const AttentionPlan& plan, AttentionTensor tensor,
               std::int64_t elements) {
    const auto& strides = problem.of(tensor);
    return {nullptr, strides.head, strides.row, rows_align(problem, plan, tensor, elements)};
}

}  // namespace

AttentionPlan plan_attention(const work::Attention& problem, int queries, int keys, bool by_keys) {
    AttentionPlan plan;
    struct Shared {
        std::int64_t tiles, sights;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, Shared> known;
    const auto q = work::starts(problem, AttentionTensor::q),
               k = work::starts(problem, AttentionTensor::k),
               v = work::starts(problem, AttentionTensor::v),
               o = work::starts(problem, AttentionTensor::o),
               lse = work::starts(problem, AttentionTensor::lse);
    for (std::int64_t e = 0; e < problem.batch; ++e) {
        Entry entry;
        const auto at = static_cast<std::size_t>(e);
        entry.q = q[at];
        entry.k = k[at];
        entry.v = v[at];
        entry.o = o[at];
        entry.lse = lse[at];
        entry.row = plan.rows;
        entry.key_row = plan.key_rows;
        const auto query_count = work::queries_of(problem, e),
                   key_count = work::keys_of(problem, e);
        entry.queries = static_cast<std::int32_t>(query_count);
        entry.keys = static_cast<std::int32_t>(key_count);
        plan.rows += query_count;
        plan.key_rows += key_count;
        const work::MaskRows rows(problem.mask, query_count, key_count);
        entry.shift = static_cast<std::int32_t>(rows.position(0));
        const auto lengths = std::pair(query_count, key_count);
        auto found = known.find(lengths);
        if (found == known.end()) {
            found = known
                        .emplace(lengths, Shared{static_cast<std::int64_t>(plan.first.size()),
                                                 static_cast<std::int64_t>(plan.sights.size())})
                        .first;
            for (std::int64_t row = 0; row < query_count; ++row) {
                plan.sights.push_back(sight_of(rows.spans(row)));
            }
            add_tiles(plan, problem.mask, query_count, key_count, queries, keys, by_keys);
        }
        entry.tiles = found->second.tiles;
        entry.sights = found->second.sights;
        plan.entries.push_back(entry);
    }
    if (!problem.mask.blocks.empty()) add_blocks(plan, problem.mask.blocks, problem.keys);
    return plan;
}

Shares share_steps(const work::Attention& problem, const AttentionPlan& plan, int keys,
                   int processors) {
    // A block's d_k and d_v cost about as much to add up as these steps' parts of d_q.
    constexpr std::int64_t kLeastSteps = 4;
    const auto group = problem.heads / problem.kv_heads;
    std::vector<std::int64_t> tiles;  // their steps, of one key/value head
    std::int64_t all = 0, most = 0;
    for (const auto& entry : plan.entries) {
        for (std::int64_t t = entry.tiles; t < entry.tiles + (entry.keys + keys - 1) / keys; ++t) {
            const auto at = static_cast<std::size_t>(t);
            const auto steps = group * (plan.first[at + 1] - plan.first[at]);
            if (steps == 0) continue;
            tiles.push_back(steps);
            all += steps;
            most = std::max(most, steps);
        }
    }
    const auto blocks_of = [&](std::int64_t steps) {
        std::int64_t blocks = 0;
        for (const auto tile : tiles) blocks += (tile + steps - 1) / steps;
        return blocks * problem.kv_heads;
    };
    if (blocks_of(std::max<std::int64_t>(most, 1)) >= processors) return {};
    // The fewest with which all blocks run at once.
    auto steps = std::max(kLeastSteps, all * problem.kv_heads / processors);
    while (blocks_of(steps) > processors) ++steps;
    if (steps >= most) return {};
    return {static_cast<std::int32_t>((most + steps - 1) / steps),
            static_cast<std::int32_t>(steps)};
}

AttentionArguments arguments_of(const work::Attention& problem, const AttentionPlan& plan) {
    AttentionArguments arguments;
    arguments.q = rows_of(problem, plan, AttentionTensor::q, kLoad);
    arguments.k = rows_of(problem, plan, AttentionTensor::k, kLoad);
    arguments.v = rows_of(problem, plan, AttentionTensor::v, kLoad);
    arguments.d_o = rows_of(problem, plan, AttentionTensor::o, kLoad);
    arguments.o = rows_of(problem, plan, AttentionTensor::o, kStore);
    arguments.d_q = rows_of(problem, plan, AttentionTensor::q, kStore);
    arguments.d_k = rows_of(problem, plan, AttentionTensor::k, kStore);
    arguments.d_v = rows_of(problem, plan, AttentionTensor::v, kStore);
    arguments.lse_head = problem.of(AttentionTensor::lse).head;
    arguments.lse_row = problem.of(AttentionTensor::lse).row;
    arguments.bias_head = problem.queries * problem.keys;
    arguments.bias_row = problem.keys;
    arguments.block_size = plan.block_size;
    arguments.block_words = plan.block_words;
    arguments.batch = static_cast<std::int32_t>(problem.batch);
    arguments.heads = static_cast<std::int32_t>(problem.heads);
    arguments.kv_heads = static_cast<std::int32_t>(problem.kv_heads);
    arguments.dim = static_cast<std::int32_t>(problem.dim);
    arguments.value_dim = static_cast<std::int32_t>(problem.value_dim);
    arguments.tile_rows = plan.tile_rows;
    arguments.scale = static_cast<float>(work::scale_of(problem));
    arguments.soft_cap = static_cast<float>(problem.modifier.soft_cap);
    if (problem.modifier.soft_cap > 0) {
        arguments.scale_to_cap =
            static_cast<float>(work::scale_of(problem) / problem.modifier.soft_cap);
    }
    arguments.alibi = problem.modifier.alibi;
    // The soft cap has the scale within, and leaves a factor above 0.
    arguments.shifted = problem.modifier.alibi || problem.modifier.bias ||
                        (!(arguments.soft_cap > 0) && !(arguments.scale > 0));
    arguments.rows = plan.rows;
    const auto sum_row = [](std::int64_t columns) {
        return (columns + kSumAlignment - 1) / kSumAlignment * kSumAlignment;
    };
    arguments.sum_row = sum_row(problem.dim);
    arguments.key_rows = plan.key_rows;
    arguments.sum_value_row = sum_row(problem.value_dim);
    return arguments;
}

void set_operands(AttentionArguments& arguments, const ops::AttentionOperands& operands) {
    const auto set = [&](RowsOf& rows, const void* data, std::int64_t elements) {
        const auto bytes = static_cast<std::uintptr_t>(elements) * 2;
        rows.data = const_cast<void*>(data);  // operands are only read
        rows.wide = rows.wide && reinterpret_cast<std::uintptr_t>(data) % bytes == 0;
    };
    set(arguments.q, operands.q, kLoad);
    set(arguments.k, operands.k, kLoad);
    set(arguments.v, operands.v, kLoad);
    set(arguments.d_o, operands.d_o, kLoad);
    set(arguments.o, operands.o, kStore);
    set(arguments.d_q, operands.d_q, kStore);
    set(arguments.d_k, operands.d_k, kStore);
    set(arguments.d_v, operands.d_v, kStore);
    arguments.lse = operands.lse;
    arguments.bias = operands.bias;
}

}  // namespace assay::cuda
