// The backward pass of 16-bit types: one block for a tile of keys of a key/value head goes over the
// tiles of queries that see them, of all heads that share it, keeps d_k and d_v in registers and
// adds its part of d_q into fp32 sums in memory (arXiv 2307.08691).
//
// Scores are computed with keys for rows, so that what a warp holds of p and ds is at once the left
// operand of the products that give d_v and d_k.
#pragma once

#include "cuda/attention/scores.h"
#include "cuda/attention/tile.h"

namespace assay::cuda {

// A warp's scores: 16 keys by kBackwardQueries queries.
inline constexpr int kBackwardQueries = 64;
inline constexpr int kQueryTiles = kBackwardQueries / kProductColumns;
using KeyScores = float[kQueryTiles][4];
using KeyOperand = std::uint32_t[1][kQueryTiles / 2][4];

// Columns up to kDim of all operands; kWarps x 16 keys.
template <work::Type type, int kDimT>
struct BackwardShape {
    static constexpr work::Type kType = type;
    static constexpr int kDim = kDimT;
    static constexpr int kWarps = 8, kThreads = kWarps * kWarp;
    static constexpr int kKeys = kWarps * kProductRows, kQueries = kBackwardQueries;

    static constexpr unsigned kOfKeys = 0;
    static constexpr unsigned kOfValues = tile_bytes(kKeys, kDim);
    static constexpr unsigned kStages = 2 * kOfValues;
    // A stage: q, d_o, log-sum-exp, delta.
    static constexpr unsigned kOfGradients = tile_bytes(kQueries, kDim);
    static constexpr unsigned kOfRows = 2 * kOfGradients;
    static constexpr unsigned kStageBytes = kOfRows + 2 * kQueries * sizeof(float);
    static constexpr unsigned kOfSlopes = kStages + 2 * kStageBytes;  // ds
    static constexpr unsigned kSharedBytes = kOfSlopes + tile_bytes(kKeys, kQueries);
};

// Begins to copy log-sum-exp and delta of kQueries rows; rows that don't exist get 0, and as their
// q and d_o are 0 too, they add nothing to any gradient.
template <int kThreads>
ASSAY_LANE void load_rows(std::uint32_t to, const AttentionArguments& p, const Entry& entry,
                          int head, int query, int thread) {
    static_assert(kThreads >= 2 * kBackwardQueries);
    if (thread >= 2 * kBackwardQueries) return;
    const int row = thread % kBackwardQueries;
    const float* from = thread < kBackwardQueries ? p.lse_base2 : p.delta;
    const bool exists = query + row < entry.queries;
    const std::int64_t at = head * p.rows + entry.row + query + row;
    lane::copy_word_async(to + static_cast<std::uint32_t>(thread) * 4, from + (exists ? at : 0),
                          exists);
}

// Which of the lane's scores the mask lets be seen: bit 4 n + i. Of queries from `query` on, and
// the warp's keys from `key` on.
ASSAY_LANE std::uint32_t seen_scores(const AttentionArguments& p, const Entry& entry, int query,
                                     int key, int lane) {
    const auto place = sum_place(lane, 0);
    std::uint32_t seen = 0;
    ASSAY_NO_UNROLL
    for (int j = 0; j < 2 * kQueryTiles; ++j) {
        const int column = query + j / 2 * kProductColumns + place.column + j % 2;
        const auto sight = sight_of(p, entry, column);
        const int bit = 4 * (j / 2) + j % 2;
        seen |= (sees(p, sight, column, key + place.row) ? 1U : 0U) << bit;
        seen |= (sees(p, sight, column, key + sum_place(lane, 2).row) ? 4U : 0U) << bit;
    }
    return seen;
}

// From products to p, the left operand that gives d_v, and in `s` to p x the score's derivative.
template <work::Type type>
ASSAY_LANE void to_weights(KeyScores& s, KeyOperand& weights, const AttentionArguments& p,
                           const Entry& entry, int head, int query, int key, std::uint32_t rows,
                           bool full, int thread) {
    const int lane = thread % kWarp;
    const std::uint32_t own = rows + static_cast<std::uint32_t>(sum_place(lane, 0).column) * 4;
    constexpr std::uint32_t kNext = kProductColumns * 4;
    const std::uint32_t seen = full ? ~0U : seen_scores(p, entry, query, key, lane);
    if (!p.modified) {
        const float factor = p.scale * kLog2E;
        ASSAY_UNROLL
        for (int n = 0; n < kQueryTiles; ++n) {
            float lse[2];
            lane::load_shared(lse, own + static_cast<std::uint32_t>(n) * kNext);
            ASSAY_UNROLL
            for (int i = 0; i < 4; ++i) {
                s[n][i] = lane::fast_exp2(fmaf(s[n][i], factor, -lse[i % 2]));
            }
        }
        if (!full) {
            ASSAY_UNROLL
            for (int n = 0; n < kQueryTiles; ++n) {
                ASSAY_UNROLL
                for (int i = 0; i < 4; ++i) {
                    // Selected, not multiplied: of a row without keys the exponential is infinite.
                    if ((seen >> (4 * n + i) & 1U) == 0) s[n][i] = 0;
                }
            }
        }
        pack_left<type, kQueryTiles>(weights[0], s);
        return;
    }
    const Modifiers<type> modifiers(p, entry, head);
    ASSAY_UNROLL
    for (int n = 0; n < kQueryTiles; ++n) {
        float lse[2], weight[4];
        lane::load_shared(lse, own + static_cast<std::uint32_t>(n) * kNext);
        ASSAY_UNROLL
        for (int i = 0; i < 4; ++i) {
            const auto place = sum_place(lane, i);
            const float shift =
                modifiers.shift(query + n * kProductColumns + place.column, key + place.row);
            const auto score = modifiers.capped(s[n][i]);
            weight[i] = lane::fast_exp2(fmaf(score.value + shift, kLog2E, -lse[i % 2]));
            if ((seen >> (4 * n + i) & 1U) == 0) weight[i] = 0;
            s[n][i] = weight[i] * score.slope;
        }
        // As pack_left().
        weights[0][n / 2][2 * (n % 2)] = lane::pack<type>(weight[0], weight[1]);
        weights[0][n / 2][2 * (n % 2) + 1] = lane::pack<type>(weight[2], weight[3]);
    }
}

// From d_p to ds, the left operand that gives d_k; without the scale. `s` is what to_weights()
// left.
template <work::Type type>
ASSAY_LANE void to_slopes(const KeyScores& s, KeyScores& d_p, KeyOperand& slopes,
                          std::uint32_t rows, int thread) {
    ASSAY_UNROLL
    for (int n = 0; n < kQueryTiles; ++n) {
        const int column = n * kProductColumns + sum_place(thread % kWarp, 0).column;
        float delta[2];
        lane::load_shared(delta, rows + static_cast<std::uint32_t>(kBackwardQueries + column) * 4);
        ASSAY_UNROLL
        for (int i = 0; i < 4; ++i) d_p[n][i] = s[n][i] * (d_p[n][i] - delta[i % 2]);
    }
    pack_left<type, kQueryTiles>(slopes[0], d_p);
}

// The warp's ds into a tile of keys x queries, from its row 16 x `warp` on.
ASSAY_LANE void store_slopes(std::uint32_t tile, const KeyOperand& slopes, int warp, int thread) {
    ASSAY_UNROLL
    for (int step = 0; step < kQueryTiles / 2; ++step) {
        ASSAY_UNROLL
        for (int reg = 0; reg < 4; ++reg) {
            const auto place = left_place(thread % kWarp, reg, 0);
            const int column = step * kProductDepth + place.column;
            lane::store_shared(tile +
                                   tile_offset(warp * kProductRows + place.row, column / kChunk,
                                               kBackwardQueries) +
                                   static_cast<std::uint32_t>(column % kChunk) * 2,
                               slopes[0][step][reg]);
        }
    }
}

// Adds a warp's 16 rows from `query` on, columns from `column` on, to the sums of d_q.
template <int kTiles>
ASSAY_LANE void add_to_queries(const AttentionArguments& p, const Entry& entry, int head, int query,
                               int column, const float (&sums)[kTiles][4], int thread) {
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
        const auto place = sum_place(thread % kWarp, 2 * r);
        const int row = query + place.row;
        if (row >= entry.queries) continue;
        float* to = p.sum_q + (head * p.rows + entry.row + row) * p.sum_row;
        ASSAY_UNROLL
        for (int n = 0; n < kTiles; ++n) {
            const int at = column + n * kProductColumns + place.column;
            if (at < p.sum_row) lane::add_global(to + at, sums[n][2 * r], sums[n][2 * r + 1]);
        }
    }
}

// Writes a warp's 16 rows from `key` on, columns from `column` of `columns` on.
template <work::Type type, int kTiles>
ASSAY_LANE void store_keys(const RowsOf& to, std::int64_t entry_at, int kv_head, int key, int keys,
                           int column, int columns, float scale, const float (&sums)[kTiles][4],
                           int thread) {
    auto* data = static_cast<std::uint16_t*>(to.data) + entry_at + kv_head * to.head;
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
        const auto place = sum_place(thread % kWarp, 2 * r);
        const int row = key + place.row;
        if (row >= keys) continue;
        ASSAY_UNROLL
        for (int n = 0; n < kTiles; ++n) {
            store_pair<type>(data + row * to.row, column + n * kProductColumns + place.column,
                             columns, to.wide, sums[n][2 * r] * scale, sums[n][2 * r + 1] * scale);
        }
    }
}

template <class Shape>
ASSAY_LANE void attend_back(const AttentionArguments& p, const Thread& at) {
    constexpr work::Type kType = Shape::kType;
    constexpr int kDim = Shape::kDim, kKeys = Shape::kKeys, kQueries = Shape::kQueries;
    constexpr int kThreads = Shape::kThreads;
    int rest = at.block;
    const int tile = rest % p.tile_rows;
    rest /= p.tile_rows;
    const int kv_head = rest % p.kv_heads;
    const Entry& entry = p.entries[rest / p.kv_heads];
    const int key = tile * kKeys;
    if (key >= entry.keys) return;

    const int group = p.heads / p.kv_heads;
    const std::int64_t begin = p.first[entry.tiles + tile];
    const auto tiles = static_cast<int>(p.first[entry.tiles + tile + 1] - begin);
    const int steps = group * tiles;
    const int warp = at.number / kWarp;
    const int warp_key = key + warp * kProductRows;
    const std::uint32_t shared = lane::shared_base();
    const std::uint32_t keys = shared + Shape::kOfKeys, values = shared + Shape::kOfValues;
    const std::uint32_t warp_keys = keys + tile_bytes(warp * kProductRows, kDim);
    const std::uint32_t warp_values = values + tile_bytes(warp * kProductRows, kDim);

    const auto head_of = [&](int step) { return kv_head * group + step / tiles; };
    const auto code_of = [&](int step) { return p.tiles[begin + step % tiles]; };
    const auto stage_of = [&](int step) {
        return shared + Shape::kStages + static_cast<std::uint32_t>(step % 2) * Shape::kStageBytes;
    };
    const auto load_step = [&](int step) {
        const int head = head_of(step), query = (code_of(step) >> 1) * kQueries;
        const std::uint32_t stage = stage_of(step);
        const auto* q = static_cast<const std::uint16_t*>(p.q.data) + entry.q + head * p.q.head +
                        query * p.q.row;
        const auto* d_o = static_cast<const std::uint16_t*>(p.d_o.data) + entry.o +
                          head * p.d_o.head + query * p.d_o.row;
        const int left = entry.queries - query;
        load_tile<kQueries, kDim, kThreads>(stage, q, p.q.row, left, p.dim, p.q.wide, at.number);
        load_tile<kQueries, kDim, kThreads>(stage + Shape::kOfGradients, d_o, p.d_o.row, left,
                                            p.value_dim, p.d_o.wide, at.number);
        load_rows<kThreads>(stage + Shape::kOfRows, p, entry, head, query, at.number);
    };

    if (steps > 0) {
        const auto* k = static_cast<const std::uint16_t*>(p.k.data) + entry.k + kv_head * p.k.head +
                        key * p.k.row;
        const auto* v = static_cast<const std::uint16_t*>(p.v.data) + entry.v + kv_head * p.v.head +
                        key * p.v.row;
        load_tile<kKeys, kDim, kThreads>(keys, k, p.k.row, entry.keys - key, p.dim, p.k.wide,
                                         at.number);
        load_tile<kKeys, kDim, kThreads>(values, v, p.v.row, entry.keys - key, p.value_dim,
                                         p.v.wide, at.number);
        load_step(0);
        lane::close_group();
    }
    float d_k[1][kDim / kProductColumns][4], d_v[1][kDim / kProductColumns][4];
    clear(d_k[0]);
    clear(d_v[0]);
    ASSAY_NO_UNROLL
    for (int step = 0; step < steps; ++step) {
        // The other stage was read last before the barrier within the last step.
        if (step + 1 < steps) load_step(step + 1);
        lane::close_group();
        lane::wait_groups<1>();
        lane::barrier();
        const int head = head_of(step), code = code_of(step);
        const int query = (code >> 1) * kQueries;
        const std::uint32_t q = stage_of(step), d_o = q + Shape::kOfGradients;
        const std::uint32_t rows = q + Shape::kOfRows;

        float s[1][kQueryTiles][4];
        clear(s[0]);
        multiply_rows<kType, kDim>(s, warp_keys, q, at.number);
        {
            KeyOperand weights;
            to_weights<kType>(s[0], weights, p, entry, head, query, warp_key, rows, (code & 1) != 0,
                              at.number);
            multiply_held<kType, kDim>(d_v, weights, d_o, at.number);
        }
        {
            float d_p[1][kQueryTiles][4];
            clear(d_p[0]);
            multiply_rows<kType, kDim>(d_p, warp_values, d_o, at.number);
            KeyOperand slopes;
            to_slopes<kType>(s[0], d_p[0], slopes, rows, at.number);
            store_slopes(shared + Shape::kOfSlopes, slopes, warp, at.number);
            multiply_held<kType, kDim>(d_k, slopes, q, at.number);
        }
        // All of ds is here; the last step's was read before the barrier above.
        lane::barrier();
        constexpr int kParts = Shape::kWarps / (kQueries / kProductRows);  // of the columns
        constexpr int kPart = kDim / kParts;
        float d_q[kPart / kProductColumns][4];
        clear(d_q);
        const int row16 = warp % (kQueries / kProductRows);
        const int part = warp / (kQueries / kProductRows);
        multiply_depth<kType, kQueries, kDim, kKeys>(d_q, shared + Shape::kOfSlopes, row16, keys,
                                                     part * kPart / kProductDepth, at.number);
        add_to_queries(p, entry, head, query + row16 * kProductRows, part * kPart, d_q, at.number);
    }
    store_keys<kType>(p.d_k, entry.k, kv_head, warp_key, entry.keys, 0, p.dim, p.scale, d_k[0],
                      at.number);
    store_keys<kType>(p.d_v, entry.v, kv_head, warp_key, entry.keys, 0, p.value_dim, 1.0F, d_v[0],
                      at.number);
}

}  // namespace assay::cuda
