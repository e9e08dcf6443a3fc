// What goes before and after the backward pass, row by row: a warp for a row of a head.
#pragma once

#include "cuda/attention/scores.h"

namespace assay::cuda {

// An element as its type's bits, and its value.
template <work::Type type>
struct Element {
    using Stored = std::uint16_t;
    ASSAY_LANE static float value(Stored bits) { return lane::to_float<type>(bits); }
    ASSAY_LANE static Stored stored(float value) {
        return static_cast<Stored>(lane::pack<type>(value, 0));
    }
};
template <>
struct Element<work::Type::fp32> {
    using Stored = float;
    ASSAY_LANE static float value(Stored value) { return value; }
    ASSAY_LANE static Stored stored(float value) { return value; }
};

inline constexpr int kRowThreads = 256, kRowsOfBlock = kRowThreads / kWarp;

// The row of a head that the thread's warp has; there may be none.
struct RowPlace {
    const Entry* entry = nullptr;
    int head = 0, row = 0;
};

// Blocks: kRowsOfBlock rows each of tile_rows an entry, heads, entries.
ASSAY_LANE RowPlace row_place(const AttentionArguments& p, int heads, const Thread& at) {
    int rest = at.block;
    const int row = rest % p.tile_rows * kRowsOfBlock + at.number / kWarp;
    rest /= p.tile_rows;
    return {p.entries + rest / heads, rest % heads, row};
}

// A row of a gradient from its sums: of `columns`, times `scale`.
template <work::Type type>
ASSAY_LANE void finish_sums(const RowsOf& to, std::int64_t entry_at, const RowPlace& place,
                            const float* from, int columns, float scale, int thread) {
    using Stored = typename Element<type>::Stored;
    auto* row =
        static_cast<Stored*>(to.data) + entry_at + place.head * to.head + place.row * to.row;
    for (int i = thread % kWarp; i < columns; i += kWarp) {
        row[i] = Element<type>::stored(from[i] * scale);
    }
}

// delta = d_o . o, and log-sum-exp to base 2.
template <work::Type type>
ASSAY_LANE void prepare_row(const AttentionArguments& p, const Thread& at) {
    const auto place = row_place(p, p.heads, at);
    if (place.row >= place.entry->queries) return;
    using Stored = typename Element<type>::Stored;
    const int lane = at.number % kWarp;
    const auto* o = static_cast<const Stored*>(p.o.data) + place.entry->o + place.head * p.o.head +
                    place.row * p.o.row;
    const auto* d_o = static_cast<const Stored*>(p.d_o.data) + place.entry->o +
                      place.head * p.d_o.head + place.row * p.d_o.row;
    float sum = 0;
    for (int i = lane; i < p.value_dim; i += kWarp) {
        sum = fmaf(Element<type>::value(o[i]), Element<type>::value(d_o[i]), sum);
    }
    for (int mask = kWarp / 2; mask > 0; mask /= 2) sum += lane::shuffle_xor(sum, mask);
    if (lane != 0) return;
    const std::int64_t to = place.head * p.rows + place.entry->row + place.row;
    p.delta[to] = sum;
    p.lse_base2[to] =
        p.lse[place.entry->lse + place.head * p.lse_head + place.row * p.lse_row] * kLog2E;
}

// d_q from its sums.
template <work::Type type>
ASSAY_LANE void finish_row(const AttentionArguments& p, const Thread& at) {
    const auto place = row_place(p, p.heads, at);
    if (place.row >= place.entry->queries) return;
    const std::int64_t row = place.head * p.rows + place.entry->row + place.row;
    finish_sums<type>(p.d_q, place.entry->q, place, p.sum_q + row * p.sum_row, p.dim, p.scale,
                      at.number);
}

// d_k and d_v from theirs.
template <work::Type type>
ASSAY_LANE void finish_key_row(const AttentionArguments& p, const Thread& at) {
    const auto place = row_place(p, p.kv_heads, at);
    if (place.row >= place.entry->keys) return;
    const std::int64_t row = place.head * p.key_rows + place.entry->key_row + place.row;
    finish_sums<type>(p.d_k, place.entry->k, place, p.sum_k + row * p.sum_row, p.dim, p.scale,
                      at.number);
    finish_sums<type>(p.d_v, place.entry->v, place, p.sum_v + row * p.sum_value_row, p.value_dim,
                      1.0F, at.number);
}

}  // namespace assay::cuda
