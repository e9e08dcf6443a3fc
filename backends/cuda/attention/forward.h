// The forward pass of 16-bit types: one block for a tile of queries of a head goes over the tiles
// of keys that they see, and keeps the sums of its rows rescaled to the largest score so far
// (arXiv 2205.14135, 2307.08691).
#pragma once

#include "cuda/attention/scores.h"
#include "cuda/attention/tile.h"

namespace assay::cuda {

// kDim columns of q and k are in shared memory at a time, kValueDim of v: all there are, or pieces.
// In pieces, a product is summed over the pieces of q and k, loaded again for every tile of keys,
// and every piece of v has a block of its own, which computes the scores again.
template <work::Type type, int kDimT, int kValueDimT, int kKeysT, int kRowTilesT, bool kInPiecesT>
struct ForwardShape {
    static constexpr work::Type kType = type;
    static constexpr int kDim = kDimT, kValueDim = kValueDimT;
    static constexpr int kRowTiles = kRowTilesT;  // of 16 queries, of a warp
    static constexpr bool kInPieces = kInPiecesT;
    static constexpr int kWarps = 4, kThreads = kWarps * kWarp;
    static constexpr int kQueries = kWarps * kRowTiles * kProductRows, kKeys = kKeysT;
    static constexpr int kStages = kInPieces ? 2 : 1;

    static constexpr unsigned kStageBytes = tile_bytes(kQueries, kDim) + tile_bytes(kKeys, kDim);
    static constexpr unsigned kValues = kStages * kStageBytes;  // where v is
    static constexpr unsigned kSharedBytes = kValues + tile_bytes(kKeys, kValueDim);
};

// The rows of a warp: largest scores, sums of exponentials (this lane's part), output.
template <class Shape>
class ForwardRows {
  public:
    static constexpr int kRowTiles = Shape::kRowTiles;
    static constexpr int kKeyTiles = Shape::kKeys / kProductColumns;
    static constexpr int kValueTiles = Shape::kValueDim / kProductColumns;
    using Scores = float[kRowTiles][kKeyTiles][4];

    ASSAY_LANE void start() {
        ASSAY_UNROLL
        for (int m = 0; m < kRowTiles; ++m) {
            clear(o_[m]);
            ASSAY_UNROLL
            for (int r = 0; r < 2; ++r) {
                largest_[m][r] = minus_infinity();
                sum_[m][r] = 0;
            }
        }
    }

    // Scores times `factor` (above 0) are to base 2. They become the tile's exponentials.
    ASSAY_LANE void take(Scores& s, float factor) {
        ASSAY_UNROLL
        for (int m = 0; m < kRowTiles; ++m) {
            ASSAY_UNROLL
            for (int r = 0; r < 2; ++r) {
                float top = largest_[m][r];
                ASSAY_UNROLL
                for (int n = 0; n < kKeyTiles; ++n) {
                    top = fmaxf(top, fmaxf(s[m][n][2 * r], s[m][n][2 * r + 1]));
                }
                // The four lanes that share the row.
                top = fmaxf(top, lane::shuffle_xor(top, 1));
                top = fmaxf(top, lane::shuffle_xor(top, 2));
                // A row that has seen nothing: exp(-inf - 0) is the 0 it needs, -inf - -inf isn't.
                const float offset = top == minus_infinity() ? 0.0F : top * factor;
                const float shrink = lane::fast_exp2(fmaf(largest_[m][r], factor, -offset));
                largest_[m][r] = top;
                float sum = 0;
                ASSAY_UNROLL
                for (int n = 0; n < kKeyTiles; ++n) {
                    ASSAY_UNROLL
                    for (int i = 2 * r; i < 2 * r + 2; ++i) {
                        s[m][n][i] = lane::fast_exp2(fmaf(s[m][n][i], factor, -offset));
                        sum += s[m][n][i];
                    }
                }
                sum_[m][r] = fmaf(sum_[m][r], shrink, sum);
                ASSAY_UNROLL
                for (int n = 0; n < kValueTiles; ++n) {
                    o_[m][n][2 * r] *= shrink;
                    o_[m][n][2 * r + 1] *= shrink;
                }
            }
        }
    }

    ASSAY_LANE void add_values(const Scores& s, std::uint32_t values, int thread) {
        std::uint32_t a[kRowTiles][kKeyTiles / 2][4];
        ASSAY_UNROLL
        for (int m = 0; m < kRowTiles; ++m) pack_left<Shape::kType, kKeyTiles>(a[m], s[m]);
        multiply_held<Shape::kType, Shape::kValueDim>(o_, a, values, thread);
    }

    // Writes the rows from `query` on, and columns from `column` on.
    ASSAY_LANE void finish(const AttentionArguments& p, const Entry& entry, int head, int query,
                           int column, float factor, int thread) {
        auto* o = static_cast<std::uint16_t*>(p.o.data) + entry.o + head * p.o.head;
        float* lse = p.lse + entry.lse + head * p.lse_head;
        ASSAY_UNROLL
        for (int m = 0; m < kRowTiles; ++m) {
            ASSAY_UNROLL
            for (int r = 0; r < 2; ++r) {
                float sum = sum_[m][r];
                sum += lane::shuffle_xor(sum, 1);
                sum += lane::shuffle_xor(sum, 2);
                const auto place = sum_place(thread % kWarp, 2 * r);
                const int row = query + m * kProductRows + place.row;
                if (row >= entry.queries) continue;
                // Not `sum > 0`: of what isn't a number, no number must come.
                const float share = sum == 0 ? 0.0F : 1.0F / sum;
                ASSAY_UNROLL
                for (int n = 0; n < kValueTiles; ++n) {
                    store_pair<Shape::kType>(
                        o + row * p.o.row, column + n * kProductColumns + place.column, p.value_dim,
                        p.o.wide, o_[m][n][2 * r] * share, o_[m][n][2 * r + 1] * share);
                }
                if (column == 0 && place.column == 0) {
                    lse[row * p.lse_row] = sum == 0
                                               ? minus_infinity()
                                               : fmaf(largest_[m][r], factor * kLn2, logf(sum));
                }
            }
        }
    }

  private:
    float o_[kRowTiles][kValueTiles][4];
    float largest_[kRowTiles][2], sum_[kRowTiles][2];
};

// -inf for what isn't seen.
template <class Shape>
ASSAY_LANE void hide_scores(float (&s)[Shape::kRowTiles][Shape::kKeys / kProductColumns][4],
                            const AttentionArguments& p, const Entry& entry, int query, int key,
                            int thread) {
    constexpr int kOfRow = 2 * Shape::kKeys / kProductColumns;  // scores of a row
    static_assert(kOfRow <= 32);
    const auto place = sum_place(thread % kWarp, 0);
    ASSAY_UNROLL
    for (int m = 0; m < Shape::kRowTiles; ++m) {
        std::uint32_t seen[2] = {};  // bit 2 n + e
        // One after the other: few registers are left.
        ASSAY_NO_UNROLL
        for (int r = 0; r < 2; ++r) {
            const int row = query + m * kProductRows + place.row + 8 * r;
            const auto sight = sight_of(p, entry, row);
            std::uint32_t of_row = 0;
            ASSAY_UNROLL
            for (int j = 0; j < kOfRow; ++j) {
                const int at = key + place.column + j / 2 * kProductColumns + j % 2;
                of_row |= sight.sees(at) ? 1U << j : 0U;
            }
            if (p.blocks != nullptr) {
                ASSAY_NO_UNROLL
                for (int j = 0; j < kOfRow; ++j) {
                    const int at = key + place.column + j / 2 * kProductColumns + j % 2;
                    if ((of_row >> j & 1U) != 0 && !block_sees(p, row, at)) of_row ^= 1U << j;
                }
            }
            seen[0] = seen[1];
            seen[1] = of_row;
        }
        ASSAY_UNROLL
        for (int j = 0; j < kOfRow; ++j) {
            ASSAY_UNROLL
            for (int r = 0; r < 2; ++r) {
                if ((seen[r] >> j & 1U) == 0) s[m][j / 2][2 * r + j % 2] = minus_infinity();
            }
        }
    }
}

template <class Shape>
ASSAY_LANE void attend(const AttentionArguments& p, const Thread& at) {
    constexpr int kQueries = Shape::kQueries, kKeys = Shape::kKeys, kDim = Shape::kDim;
    constexpr int kValueDim = Shape::kValueDim, kThreads = Shape::kThreads;
    // The last queries first: where causal, they see most.
    int rest = at.block;
    const int tile = p.tile_rows - 1 - rest % p.tile_rows;
    rest /= p.tile_rows;
    const int column = rest % p.value_pieces * kValueDim;
    rest /= p.value_pieces;
    const int head = rest % p.heads;
    const Entry& entry = p.entries[rest / p.heads];
    const int query = tile * kQueries;
    if (query >= entry.queries) return;

    const int kv_head = head / (p.heads / p.kv_heads);
    const auto* q =
        static_cast<const std::uint16_t*>(p.q.data) + entry.q + head * p.q.head + query * p.q.row;
    const auto* k = static_cast<const std::uint16_t*>(p.k.data) + entry.k + kv_head * p.k.head;
    const auto* v =
        static_cast<const std::uint16_t*>(p.v.data) + entry.v + kv_head * p.v.head + column;
    const std::int64_t begin = p.first[entry.tiles + tile];
    const auto count = static_cast<int>(p.first[entry.tiles + tile + 1] - begin);
    const std::int32_t* const tiles = p.tiles + begin;
    const std::uint32_t shared = lane::shared_base();
    const std::uint32_t values = shared + Shape::kValues;
    const int warp = at.number / kWarp;
    const int warp_rows = warp * Shape::kRowTiles * kProductRows;
    const float gain = gain_of(p);
    // The largest score is looked for before scores are multiplied by what is above 0.
    const float factor = p.shifted ? 1.0F : gain;

    const auto load_q = [&](std::uint32_t to, int from) {
        load_tile<kQueries, kDim, kThreads>(to, q + from, p.q.row, entry.queries - query,
                                            p.dim - from, p.q.wide, at.number);
    };
    const auto load_k = [&](std::uint32_t to, int key, int from) {
        load_tile<kKeys, kDim, kThreads>(to, k + key * p.k.row + from, p.k.row, entry.keys - key,
                                         p.dim - from, p.k.wide, at.number);
    };
    const auto load_v = [&](int key) {
        load_tile<kKeys, kValueDim, kThreads>(values, v + key * p.v.row, p.v.row, entry.keys - key,
                                              p.value_dim - column, p.v.wide, at.number);
    };
    constexpr std::uint32_t kOfKeys = tile_bytes(kQueries, kDim);  // in a stage, after q's
    const auto multiply_keys = [&](auto& s, std::uint32_t stage) {
        multiply_rows<Shape::kType, kDim>(s, stage + tile_bytes(warp_rows, kDim), stage + kOfKeys,
                                          at.number);
    };
    const auto key_of = [&](int t) { return (tiles[t] >> 1) * kKeys; };

    ForwardRows<Shape> rows;
    rows.start();
    if (count > 0) {
        load_q(shared, 0);
        load_k(shared + kOfKeys, key_of(0), 0);
        lane::close_group();
    }
    int stage = 0;  // that holds the piece wanted next
    ASSAY_NO_UNROLL
    for (int t = 0; t < count; ++t) {
        const int key = key_of(t);
        float s[Shape::kRowTiles][kKeys / kProductColumns][4];
        ASSAY_UNROLL
        for (int m = 0; m < Shape::kRowTiles; ++m) clear(s[m]);
        if constexpr (!Shape::kInPieces) {
            // k is here, and nobody reads the last v any more.
            lane::wait_groups<0>();
            lane::barrier();
            load_v(key);
            lane::close_group();
            multiply_keys(s, shared);
            // v is here, and nobody reads k any more.
            lane::wait_groups<0>();
            lane::barrier();
        } else {
            ASSAY_NO_UNROLL
            for (int piece = 0; piece < p.key_pieces; ++piece) {
                // The other stage is free since the barrier that ended the last piece, and v's
                // place since the one that ended the last tile.
                const bool last = piece + 1 == p.key_pieces;
                if (!last || t + 1 < count) {
                    const std::uint32_t next = shared + (stage ^ 1) * Shape::kStageBytes;
                    const int from = last ? 0 : (piece + 1) * kDim;
                    load_q(next, from);
                    load_k(next + kOfKeys, last ? key_of(t + 1) : key, from);
                }
                if (piece == 0) load_v(key);
                lane::close_group();
                lane::wait_groups<1>();
                lane::barrier();
                multiply_keys(s, shared + stage * Shape::kStageBytes);
                lane::barrier();
                stage ^= 1;
            }
            lane::wait_groups<0>();
            lane::barrier();
        }
        cap_scores(s, p);
        if (p.shifted) {
            ASSAY_UNROLL
            for (int m = 0; m < Shape::kRowTiles; ++m) multiply(s[m], gain);
            add_shifts<Shape::kType, Rows::queries>(s, p, entry, head, query + warp_rows, key,
                                                    at.number);
        }
        if ((tiles[t] & 1) == 0) {
            hide_scores<Shape>(s, p, entry, query + warp_rows, key, at.number);
        }
        rows.take(s, factor);
        if constexpr (!Shape::kInPieces) {
            // Not before: while scores are fp32 there is no register left for addresses.
            if (t + 1 < count) load_k(shared + kOfKeys, key_of(t + 1), 0);
            lane::close_group();
        }
        rows.add_values(s, values, at.number);
        if constexpr (Shape::kInPieces) lane::barrier();
    }
    rows.finish(p, entry, head, query + warp_rows, column, factor, at.number);
}

}  // namespace assay::cuda
