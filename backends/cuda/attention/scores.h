// From products of queries and keys to scores: modifiers, and what the mask hides.
#pragma once

#include <cmath>
#include <limits>

#include "cuda/attention/arguments.h"
#include "cuda/attention/lane.h"

namespace assay::cuda {

inline constexpr float kLog2E = 1.44269504088896340736F;
inline constexpr float kLn2 = 0.693147180559945309417F;

ASSAY_LANE float minus_infinity() {
    return -std::numeric_limits<float>::infinity();
}

// ALiBi's slope of a head, as work::alibi_slope(); 0 without.
ASSAY_LANE float slope_of(const AttentionArguments& p, int head) {
    if (!p.alibi) return 0;
    return exp2f(-8.0F * static_cast<float>(head + 1) / static_cast<float>(p.heads));
}

ASSAY_LANE Sight sight_of(const AttentionArguments& p, const Entry& entry, int query) {
    if (query >= entry.queries) return {};
    return p.sights[entry.sights + query];
}

// Whether the list of blocks, where there is one, lets the query see the key; both exist.
ASSAY_LANE bool block_sees(const AttentionArguments& p, int query, int key) {
    const int row = query / p.block_size, column = key / p.block_size;
    return (p.blocks[static_cast<std::int64_t>(row) * p.block_words + column / 32] >>
                (column % 32) &
            1U) != 0;
}

ASSAY_LANE bool sees(const AttentionArguments& p, const Sight& sight, int query, int key) {
    return sight.sees(key) && (p.blocks == nullptr || block_sees(p, query, key));
}

// tanh for the soft cap, to 1e-6 of its value: a cap far above the scores leaves only what is small
// of it. The hardware's own is good to 2^-11 of its value: a score of 20 would be off by 0.01 with
// it, and so its weight by 1 %.
ASSAY_LANE float cap_tanh(float x) {
    // Good to 2e-7 absolutely, which is too much of what is small.
    const float large = 1.0F - lane::fast_divide(2.0F, 1.0F + lane::fast_exp2(2.0F * kLog2E * x));
    // (tanh(x) - x) / x^3 by x^2, through the Chebyshev points up to kSmall: to 2e-7 of tanh there.
    constexpr float kSmall = 0.35F;
    const float square = x * x;
    const float rest =
        fmaf(fmaf(-0.050163354690F, square, 0.133161275794F), square, -0.333332165607F);
    return fabsf(x) < kSmall ? fmaf(x * square, rest, x) : large;
}

// What follows modifies a tile's scores of 16-bit types, kDown x 16 rows by kTiles x 8 columns of a
// warp; what is the same for all of them is decided once, not for each.

// From products to scores by gain_of(): tanh where the soft cap asks for it.
template <int kDown, int kTiles>
ASSAY_LANE void cap_scores(float (&s)[kDown][kTiles][4], const AttentionArguments& p) {
    if (!(p.soft_cap > 0)) return;
    ASSAY_UNROLL
    for (int m = 0; m < kDown; ++m) {
        ASSAY_UNROLL
        for (int n = 0; n < kTiles; ++n) {
            ASSAY_UNROLL
            for (int i = 0; i < 4; ++i) s[m][n][i] = cap_tanh(s[m][n][i] * p.scale_to_cap);
        }
    }
}

// What cap_scores() leaves, times this, is a score to base 2.
ASSAY_LANE float gain_of(const AttentionArguments& p) {
    return (p.soft_cap > 0 ? p.soft_cap : p.scale) * kLog2E;
}

// Which way a warp's tile lies.
enum class Rows { queries, keys };

// Adds ALiBi and the bias to scores to base 2; of queries from `query` and keys from `key` on.
template <work::Type type, Rows kRows, int kDown, int kTiles>
ASSAY_LANE void add_shifts(float (&s)[kDown][kTiles][4], const AttentionArguments& p,
                           const Entry& entry, int head, int query, int key, int thread) {
    constexpr bool kOfQueries = kRows == Rows::queries;
    const auto place = sum_place(thread % kWarp, 0);
    const int row = (kOfQueries ? query : key) + place.row;
    const int column = (kOfQueries ? key : query) + place.column;
    if (p.alibi) {
        // The distance's sign doesn't count, so neither does which way the tile lies.
        const float slope = slope_of(p, head) * kLog2E;
        const int distance = row - column + (kOfQueries ? entry.shift : -entry.shift);
        const float first = slope * static_cast<float>(distance);
        ASSAY_UNROLL
        for (int m = 0; m < kDown; ++m) {
            ASSAY_UNROLL
            for (int n = 0; n < kTiles; ++n) {
                ASSAY_UNROLL
                for (int i = 0; i < 4; ++i) {
                    const int further =
                        m * kProductRows + 8 * (i / 2) - n * kProductColumns - i % 2;
                    s[m][n][i] -= fabsf(fmaf(slope, static_cast<float>(further), first));
                }
            }
        }
    }
    if (p.bias == nullptr) return;
    const auto* bias = static_cast<const std::uint16_t*>(p.bias) + head * p.bias_head;
    ASSAY_UNROLL
    for (int m = 0; m < kDown; ++m) {
        ASSAY_UNROLL
        for (int n = 0; n < kTiles; ++n) {
            ASSAY_UNROLL
            for (int i = 0; i < 4; ++i) {
                const int r = row + m * kProductRows + 8 * (i / 2);
                const int c = column + n * kProductColumns + i % 2;
                const int at_query = kOfQueries ? r : c, at_key = kOfQueries ? c : r;
                if (at_query >= entry.queries || at_key >= entry.keys) continue;
                s[m][n][i] = fmaf(lane::to_float<type>(bias[at_query * p.bias_row + at_key]),
                                  kLog2E, s[m][n][i]);
            }
        }
    }
}

}  // namespace assay::cuda
