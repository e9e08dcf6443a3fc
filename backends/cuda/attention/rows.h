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

// The row of a head that the thread's warp has; `exists` is false beyond the last.
struct RowPlace {
    const Entry* entry = nullptr;
    int head = 0, row = 0;
    bool exists = false;
};

// Blocks: kRowsOfBlock rows each of tile_rows an entry, heads, entries.
ASSAY_LANE RowPlace row_place(const AttentionArguments& p, const Thread& at) {
    int rest = at.block;
    const int row = rest % p.tile_rows * kRowsOfBlock + at.number / kWarp;
    rest /= p.tile_rows;
    const int head = rest % p.heads;
    const Entry* entry = p.entries + rest / p.heads;
    return {entry, head, row, row < entry->queries};
}

// delta = d_o . o, and log-sum-exp to base 2.
template <work::Type type>
ASSAY_LANE void prepare_row(const AttentionArguments& p, const Thread& at) {
    const auto place = row_place(p, at);
    if (!place.exists) return;
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
    const auto place = row_place(p, at);
    if (!place.exists) return;
    using Stored = typename Element<type>::Stored;
    const float* from = p.sum_q + (place.head * p.rows + place.entry->row + place.row) * p.sum_row;
    auto* d_q = static_cast<Stored*>(p.d_q.data) + place.entry->q + place.head * p.d_q.head +
                place.row * p.d_q.row;
    for (int i = at.number % kWarp; i < p.dim; i += kWarp) {
        d_q[i] = Element<type>::stored(from[i] * p.scale);
    }
}

}  // namespace assay::cuda
