// The backward pass of 16-bit types: one block for a tile of keys of a key/value head goes over the
// tiles of queries that see them, of all heads that share it, keeps d_k and d_v in registers and
// adds its part of d_q into fp32 sums in memory (arXiv 2307.08691). Where there are few tiles of
// keys, several blocks share one, and add up d_k and d_v in memory too.
//
// Scores are computed with keys for rows. p and ds go through shared memory, so that every product
// takes 32 rows of a warp: fewer operands are loaded than of 16 whose left operand it held.
#pragma once

#include "cuda/attention/scores.h"
#include "cuda/attention/tile.h"

namespace assay::cuda {

// A warp's scores: keys down, queries across.
template <int kDown, int kTiles>
using KeyScores = float[kDown][kTiles][4];
// The same rounded, as the left operand of a product.
template <int kDown, int kTiles>
using KeyOperand = std::uint32_t[kDown][kTiles / 2][4];

// Columns up to kDim of all operands.
template <work::Type type, int kDimT, int kQueriesT>
struct BackwardShape {
    static constexpr work::Type kType = type;
    static constexpr int kDim = kDimT, kQueries = kQueriesT;
    static constexpr int kWarps = 8, kThreads = kWarps * kWarp;
    // A warp's rows of each product, 16 x kDown. Warps lie kKeyWarps down the keys by 2 across the
    // queries and across the columns of d_k and d_v; and kQueryWarps down the queries by
    // kColumnWarps across the columns of d_q.
    static constexpr int kDown = 2, kRows = kDown * kProductRows;
    static constexpr int kKeyWarps = kWarps / 2, kKeys = kKeyWarps * kRows;
    static constexpr int kQueryWarps = kQueries / kRows, kColumnWarps = kWarps / kQueryWarps;

    static constexpr unsigned kOfKeys = 0;
    static constexpr unsigned kOfValues = tile_bytes(kKeys, kDim);
    static constexpr unsigned kStages = 2 * kOfValues;
    // A stage: q, d_o, log-sum-exp, delta.
    static constexpr unsigned kOfGradients = tile_bytes(kQueries, kDim);
    static constexpr unsigned kOfRows = 2 * kOfGradients;
    static constexpr unsigned kStageBytes = kOfRows + 2 * kQueries * sizeof(float);
    static constexpr unsigned kOfWeights = kStages + 2 * kStageBytes;                // p
    static constexpr unsigned kOfSlopes = kOfWeights + tile_bytes(kKeys, kQueries);  // ds
    static constexpr unsigned kSharedBytes = kOfSlopes + tile_bytes(kKeys, kQueries);
};

// Begins to copy log-sum-exp and delta of kQueries rows; rows that don't exist get 0, and as their
// q and d_o are 0 too, they add nothing to any gradient.
template <int kQueries, int kThreads>
ASSAY_LANE void load_rows(std::uint32_t to, const AttentionArguments& p, const Entry& entry,
                          int head, int query, int thread) {
    static_assert(kThreads >= 2 * kQueries);
    if (thread >= 2 * kQueries) return;
    const int row = thread % kQueries;
    const float* from = thread < kQueries ? p.lse_base2 : p.delta;
    const bool exists = query + row < entry.queries;
    const std::int64_t at = head * p.rows + entry.row + query + row;
    lane::copy_word_async(to + static_cast<std::uint32_t>(thread) * 4, from + (exists ? at : 0),
                          exists);
}

// 0 for what the mask hides: selected, not multiplied, as of a row without keys the exponential is
// infinite. Of queries from `query` on, and the warp's keys from `key` on.
template <int kDown, int kTiles>
ASSAY_LANE void hide_weights(KeyScores<kDown, kTiles>& weights, const AttentionArguments& p,
                             const Entry& entry, int query, int key, int thread) {
    const auto place = sum_place(thread % kWarp, 0);
    ASSAY_UNROLL
    for (int n = 0; n < kTiles; ++n) {
        ASSAY_UNROLL
        for (int e = 0; e < 2; ++e) {
            const int column = query + n * kProductColumns + place.column + e;
            const auto sight = sight_of(p, entry, column);
            ASSAY_UNROLL
            for (int r = 0; r < 2 * kDown; ++r) {
                float& weight = weights[r / 2][n][2 * (r % 2) + e];
                if (!sight.sees(key + place.row + 8 * r)) weight = 0;
            }
        }
    }
    if (p.blocks == nullptr) return;
    static_assert(kTiles <= 8);
    ASSAY_UNROLL
    for (int r = 0; r < 2 * kDown; ++r) {
        std::uint32_t seen = 0;  // bit 2 n + e
        ASSAY_NO_UNROLL
        for (int j = 0; j < 2 * kTiles; ++j) {
            const int column = query + j / 2 * kProductColumns + place.column + j % 2;
            const int row = key + place.row + 8 * r;
            if (column >= entry.queries || row >= entry.keys) continue;
            seen |= block_sees(p, column, row) ? 1U << j : 0U;
        }
        ASSAY_UNROLL
        for (int j = 0; j < 2 * kTiles; ++j) {
            if ((seen >> j & 1U) == 0) weights[r / 2][j / 2][2 * (r % 2) + j % 2] = 0;
        }
    }
}

// From products to p, the left operand that gives d_v, and in `s` to p x the score's derivative.
// Log-sum-exps of the queries from `query` on are at `rows`.
template <work::Type type, int kDown, int kTiles>
ASSAY_LANE void to_weights(KeyScores<kDown, kTiles>& s, KeyOperand<kDown, kTiles>& operand,
                           const AttentionArguments& p, const Entry& entry, int head, int query,
                           int key, std::uint32_t rows, bool full, int thread) {
    cap_scores(s, p);
    const float gain = gain_of(p);
    KeyScores<kDown, kTiles> weights;
    const std::uint32_t own =
        rows + static_cast<std::uint32_t>(sum_place(thread % kWarp, 0).column) * 4;
    ASSAY_UNROLL
    for (int n = 0; n < kTiles; ++n) {
        float lse[2];
        lane::load_shared(lse, own + static_cast<std::uint32_t>(n * kProductColumns) * 4);
        ASSAY_UNROLL
        for (int m = 0; m < kDown; ++m) {
            ASSAY_UNROLL
            for (int i = 0; i < 4; ++i) weights[m][n][i] = fmaf(s[m][n][i], gain, -lse[i % 2]);
        }
    }
    if (p.shifted) add_shifts<type, Rows::keys>(weights, p, entry, head, query, key, thread);
    ASSAY_UNROLL
    for (int m = 0; m < kDown; ++m) {
        ASSAY_UNROLL
        for (int n = 0; n < kTiles; ++n) {
            ASSAY_UNROLL
            for (int i = 0; i < 4; ++i) weights[m][n][i] = lane::fast_exp2(weights[m][n][i]);
        }
    }
    if (!full) hide_weights(weights, p, entry, query, key, thread);
    const bool capped = p.soft_cap > 0;
    ASSAY_UNROLL
    for (int m = 0; m < kDown; ++m) {
        pack_left<type, kTiles>(operand[m], weights[m]);
        ASSAY_UNROLL
        for (int n = 0; n < kTiles; ++n) {
            ASSAY_UNROLL
            for (int i = 0; i < 4; ++i) {
                // tanh' of what cap_scores() left.
                const float slope = capped ? fmaf(-s[m][n][i], s[m][n][i], 1.0F) : 1.0F;
                s[m][n][i] = weights[m][n][i] * slope;
            }
        }
    }
}

// From d_p to ds, the left operand that gives d_k; without the scale. `s` is what to_weights()
// left, the queries' deltas are at `rows`.
template <work::Type type, int kDown, int kTiles>
ASSAY_LANE void to_slopes(const KeyScores<kDown, kTiles>& s, KeyScores<kDown, kTiles>& d_p,
                          KeyOperand<kDown, kTiles>& slopes, std::uint32_t rows, int thread) {
    const std::uint32_t own =
        rows + static_cast<std::uint32_t>(sum_place(thread % kWarp, 0).column) * 4;
    ASSAY_UNROLL
    for (int n = 0; n < kTiles; ++n) {
        float delta[2];
        lane::load_shared(delta, own + static_cast<std::uint32_t>(n * kProductColumns) * 4);
        ASSAY_UNROLL
        for (int m = 0; m < kDown; ++m) {
            ASSAY_UNROLL
            for (int i = 0; i < 4; ++i) d_p[m][n][i] = s[m][n][i] * (d_p[m][n][i] - delta[i % 2]);
        }
    }
    ASSAY_UNROLL
    for (int m = 0; m < kDown; ++m) pack_left<type, kTiles>(slopes[m], d_p[m]);
}

// A warp's operand into a tile of kColumns, from `row` and `column` on.
template <int kColumns, int kDown, int kSteps>
ASSAY_LANE void store_operand(std::uint32_t tile, const std::uint32_t (&operand)[kDown][kSteps][4],
                              int row, int column, int thread) {
    ASSAY_UNROLL
    for (int m = 0; m < kDown; ++m) {
        ASSAY_UNROLL
        for (int step = 0; step < kSteps; ++step) {
            ASSAY_UNROLL
            for (int reg = 0; reg < 4; ++reg) {
                const auto place = left_place(thread % kWarp, reg, 0);
                const int at = column + step * kProductDepth + place.column;
                lane::store_shared(
                    tile + tile_offset(row + m * kProductRows + place.row, at / kChunk, kColumns) +
                        static_cast<std::uint32_t>(at % kChunk) * 2,
                    operand[m][step][reg]);
            }
        }
    }
}

// Adds a warp's rows, of which `left` exist, to sums of fp32; their columns are those from `column`
// on.
template <int kDown, int kTiles>
ASSAY_LANE void add_rows(float* to, std::int64_t stride, int left, int column,
                         const float (&sums)[kDown][kTiles][4], int thread) {
    ASSAY_UNROLL
    for (int r = 0; r < 2 * kDown; ++r) {
        const auto place = sum_place(thread % kWarp, 0);
        const int row = place.row + 8 * r;
        if (row >= left) continue;
        ASSAY_UNROLL
        for (int n = 0; n < kTiles; ++n) {
            const int at = column + n * kProductColumns + place.column;
            if (at >= stride) continue;
            const auto& sum = sums[r / 2][n];
            lane::add_global(to + row * stride + at, sum[2 * (r % 2)], sum[2 * (r % 2) + 1]);
        }
    }
}

// The same to the sums of d_q, from `query` on.
template <int kDown, int kTiles>
ASSAY_LANE void add_to_queries(const AttentionArguments& p, const Entry& entry, int head, int query,
                               int column, const float (&sums)[kDown][kTiles][4], int thread) {
    add_rows(p.sum_q + (head * p.rows + entry.row + query) * p.sum_row, p.sum_row,
             entry.queries - query, column, sums, thread);
}

// Writes a warp's rows from `key` on, columns from `column` of `columns` on.
template <work::Type type, int kDown, int kTiles>
ASSAY_LANE void store_keys(const RowsOf& to, std::int64_t entry_at, int kv_head, int key, int keys,
                           int column, int columns, float scale,
                           const float (&sums)[kDown][kTiles][4], int thread) {
    auto* data = static_cast<std::uint16_t*>(to.data) + entry_at + kv_head * to.head;
    ASSAY_UNROLL
    for (int r = 0; r < 2 * kDown; ++r) {
        const auto place = sum_place(thread % kWarp, 0);
        const int row = key + place.row + 8 * r;
        if (row >= keys) continue;
        ASSAY_UNROLL
        for (int n = 0; n < kTiles; ++n) {
            const auto& sum = sums[r / 2][n];
            store_pair<type>(data + row * to.row, column + n * kProductColumns + place.column,
                             columns, to.wide, sum[2 * (r % 2)] * scale,
                             sum[2 * (r % 2) + 1] * scale);
        }
    }
}

// Where a block is in its heads' tiles of queries.
struct QueryStep {
    int head = 0, tile = 0;  // of the entry's list
    int code = 0;
};

template <class Shape>
ASSAY_LANE void attend_back(const AttentionArguments& p, const Thread& at) {
    constexpr work::Type kType = Shape::kType;
    constexpr int kDim = Shape::kDim, kKeys = Shape::kKeys, kQueries = Shape::kQueries;
    constexpr int kThreads = Shape::kThreads;
    int rest = at.block;
    const int tile = rest % p.tile_rows;
    rest /= p.tile_rows;
    const int share = rest % p.shares;
    rest /= p.shares;
    const int kv_head = rest % p.kv_heads;
    const Entry& entry = p.entries[rest / p.kv_heads];
    const int key = tile * kKeys;
    if (key >= entry.keys) return;

    const int group = p.heads / p.kv_heads;
    const std::int64_t begin = p.first[entry.tiles + tile];
    const auto tiles = static_cast<int>(p.first[entry.tiles + tile + 1] - begin);
    const std::int32_t* const codes = p.tiles + begin;
    const int first_step = share == 0 ? 0 : share * p.share_steps;
    const int left_steps = group * tiles - first_step;
    const int steps = left_steps < p.share_steps ? left_steps : p.share_steps;
    if (p.shares > 1 && steps <= 0) return;
    const int warp = at.number / kWarp;
    const int key_row = warp % Shape::kKeyWarps * Shape::kRows;  // of the warp, within the tile
    const int half = warp / Shape::kKeyWarps;                    // of the queries, or columns
    const int own_query = half * (kQueries / 2), own_column = half * (kDim / 2);
    const std::uint32_t shared = lane::shared_base();
    const std::uint32_t keys = shared + Shape::kOfKeys, values = shared + Shape::kOfValues;
    const std::uint32_t warp_keys = keys + tile_bytes(key_row, kDim);
    const std::uint32_t warp_values = values + tile_bytes(key_row, kDim);
    const std::uint32_t weights_at = shared + Shape::kOfWeights;
    const std::uint32_t slopes_at = shared + Shape::kOfSlopes;

    const auto stage_of = [&](int step) {
        return shared + Shape::kStages + static_cast<std::uint32_t>(step % 2) * Shape::kStageBytes;
    };
    const auto load_step = [&](const QueryStep& next, std::uint32_t stage) {
        const int query = (next.code >> 1) * kQueries, left = entry.queries - query;
        const auto* q = static_cast<const std::uint16_t*>(p.q.data) + entry.q +
                        next.head * p.q.head + query * p.q.row;
        const auto* d_o = static_cast<const std::uint16_t*>(p.d_o.data) + entry.o +
                          next.head * p.d_o.head + query * p.d_o.row;
        load_tile<kQueries, kDim, kThreads>(stage, q, p.q.row, left, p.dim, p.q.wide, at.number);
        load_tile<kQueries, kDim, kThreads>(stage + Shape::kOfGradients, d_o, p.d_o.row, left,
                                            p.value_dim, p.d_o.wide, at.number);
        load_rows<kQueries, kThreads>(stage + Shape::kOfRows, p, entry, next.head, query,
                                      at.number);
    };

    QueryStep next;
    if (steps > 0) {
        next = {kv_head * group + first_step / tiles, first_step % tiles,
                codes[first_step % tiles]};
        const auto* k = static_cast<const std::uint16_t*>(p.k.data) + entry.k + kv_head * p.k.head +
                        key * p.k.row;
        const auto* v = static_cast<const std::uint16_t*>(p.v.data) + entry.v + kv_head * p.v.head +
                        key * p.v.row;
        load_tile<kKeys, kDim, kThreads>(keys, k, p.k.row, entry.keys - key, p.dim, p.k.wide,
                                         at.number);
        load_tile<kKeys, kDim, kThreads>(values, v, p.v.row, entry.keys - key, p.value_dim,
                                         p.v.wide, at.number);
        load_step(next, stage_of(0));
        lane::close_group();
    }
    constexpr int kDown = Shape::kDown;
    float d_k[kDown][kDim / 2 / kProductColumns][4], d_v[kDown][kDim / 2 / kProductColumns][4];
    ASSAY_UNROLL
    for (int m = 0; m < kDown; ++m) {
        clear(d_k[m]);
        clear(d_v[m]);
    }
    ASSAY_NO_UNROLL
    for (int step = 0; step < steps; ++step) {
        const auto now = next;
        // This step's operands are here, and nobody reads the last step's, p or ds any more.
        lane::wait_groups<0>();
        lane::barrier();
        if (step + 1 < steps) {
            if (++next.tile == tiles) {
                next.tile = 0;
                ++next.head;
            }
            next.code = codes[next.tile];
            load_step(next, stage_of(step + 1));
            lane::close_group();
        }
        const int query = (now.code >> 1) * kQueries;
        const std::uint32_t q = stage_of(step), d_o = q + Shape::kOfGradients;
        const std::uint32_t lse = q + Shape::kOfRows + static_cast<std::uint32_t>(own_query) * 4;
        {
            KeyScores<kDown, kQueries / 2 / kProductColumns> s, d_p;
            KeyOperand<kDown, kQueries / 2 / kProductColumns> operand;
            ASSAY_UNROLL
            for (int m = 0; m < kDown; ++m) clear(s[m]);
            multiply_rows<kType, kDim>(s, warp_keys, q + tile_bytes(own_query, kDim), at.number);
            to_weights<kType>(s, operand, p, entry, now.head, query + own_query, key + key_row, lse,
                              (now.code & 1) != 0, at.number);
            store_operand<kQueries>(weights_at, operand, key_row, own_query, at.number);
            ASSAY_UNROLL
            for (int m = 0; m < kDown; ++m) clear(d_p[m]);
            multiply_rows<kType, kDim>(d_p, warp_values, d_o + tile_bytes(own_query, kDim),
                                       at.number);
            to_slopes<kType>(s, d_p, operand, lse + kQueries * 4, at.number);
            store_operand<kQueries>(slopes_at, operand, key_row, own_query, at.number);
        }
        lane::barrier();
        const int row16 = key_row / kProductRows, column16 = own_column / kProductDepth;
        multiply_depth<kType, false, kQueries, kDim, kQueries>(d_v, weights_at, row16, d_o,
                                                               column16, at.number);
        multiply_depth<kType, false, kQueries, kDim, kQueries>(d_k, slopes_at, row16, q, column16,
                                                               at.number);
        constexpr int kPart = kDim / Shape::kColumnWarps;  // of d_q's columns
        float d_q[kDown][kPart / kProductColumns][4];
        ASSAY_UNROLL
        for (int m = 0; m < kDown; ++m) clear(d_q[m]);
        const int down = warp % Shape::kQueryWarps, part = warp / Shape::kQueryWarps;
        multiply_depth<kType, true, kQueries, kDim, kKeys>(d_q, slopes_at, down * kDown, keys,
                                                           part * kPart / kProductDepth, at.number);
        add_to_queries(p, entry, now.head, query + down * Shape::kRows, part * kPart, d_q,
                       at.number);
    }
    if (p.shares > 1) {
        const std::int64_t row = kv_head * p.key_rows + entry.key_row + key + key_row;
        const int left = entry.keys - key - key_row;
        add_rows(p.sum_k + row * p.sum_row, p.sum_row, left, own_column, d_k, at.number);
        add_rows(p.sum_v + row * p.sum_value_row, p.sum_value_row, left, own_column, d_v,
                 at.number);
        return;
    }
    store_keys<kType>(p.d_k, entry.k, kv_head, key + key_row, entry.keys, own_column, p.dim,
                      p.scale, d_k, at.number);
    store_keys<kType>(p.d_v, entry.v, kv_head, key + key_row, entry.keys, own_column, p.value_dim,
                      1.0F, d_v, at.number);
}

}  // namespace assay::cuda
