// The backward pass of 16-bit types for heads that don't fit a block's registers or shared memory:
// a block for a tile of keys has one piece of d_v, or one of d_k and d_q. All compute the scores
// again, over pieces of the operands that are loaded again for every tile of queries.
#pragma once

#include "cuda/attention/backward.h"

namespace assay::cuda {

template <work::Type type>
struct BackwardPiecesShape {
    static constexpr work::Type kType = type;
    static constexpr int kDim = 64;     // columns that are multiplied at a time
    static constexpr int kPiece = 128;  // columns of a gradient
    static constexpr int kWarps = 4, kThreads = kWarps * kWarp;
    static constexpr int kKeys = kWarps * kProductRows, kQueries = 64;
    static constexpr int kQueryTiles = kQueries / kProductColumns;

    static constexpr unsigned kOfLeft = 0;                         // a piece of k or v
    static constexpr unsigned kOfRight = tile_bytes(kKeys, kDim);  // of q or d_o
    static constexpr unsigned kOfSum = kOfRight + tile_bytes(kQueries, kDim);
    // The gradient's piece: of d_o for d_v, of q for d_k.
    static constexpr unsigned kOfKeys = kOfSum + tile_bytes(kQueries, kPiece);  // k's, for d_q
    static constexpr unsigned kOfSlopes = kOfKeys + tile_bytes(kKeys, kPiece);
    static constexpr unsigned kOfRows = kOfSlopes + tile_bytes(kKeys, kQueries);
    static constexpr unsigned kSharedBytes = kOfRows + 2 * kQueries * sizeof(float);
};

template <class Shape>
ASSAY_LANE void attend_back_in_pieces(const AttentionArguments& p, const Thread& at) {
    constexpr work::Type kType = Shape::kType;
    constexpr int kDim = Shape::kDim, kPiece = Shape::kPiece, kKeys = Shape::kKeys;
    constexpr int kQueries = Shape::kQueries, kThreads = Shape::kThreads;
    int rest = at.block;
    const int tile = rest % p.tile_rows;
    rest /= p.tile_rows;
    const int job = rest % (p.value_pieces + p.key_pieces);
    rest /= p.value_pieces + p.key_pieces;
    const int kv_head = rest % p.kv_heads;
    const Entry& entry = p.entries[rest / p.kv_heads];
    const int key = tile * kKeys;
    if (key >= entry.keys) return;

    const bool of_values = job < p.value_pieces;
    const int column = (of_values ? job : job - p.value_pieces) * kPiece;
    const int group = p.heads / p.kv_heads;
    const std::int64_t begin = p.first[entry.tiles + tile], end = p.first[entry.tiles + tile + 1];
    const int warp = at.number / kWarp;
    const int warp_key = key + warp * kProductRows;
    const std::uint32_t shared = lane::shared_base();
    const std::uint32_t warp_left = shared + Shape::kOfLeft + tile_bytes(warp * kProductRows, kDim);
    const std::uint32_t right = shared + Shape::kOfRight, sum = shared + Shape::kOfSum;
    const std::uint32_t keys = shared + Shape::kOfKeys, rows = shared + Shape::kOfRows;
    const std::uint32_t slopes_at = shared + Shape::kOfSlopes;
    const auto* k =
        static_cast<const std::uint16_t*>(p.k.data) + entry.k + kv_head * p.k.head + key * p.k.row;
    const auto* v =
        static_cast<const std::uint16_t*>(p.v.data) + entry.v + kv_head * p.v.head + key * p.v.row;

    // sums += left right^T over all columns, piece by piece.
    using Scores = KeyScores<1, Shape::kQueryTiles>;
    const auto multiply = [&](Scores& sums, const std::uint16_t* left, const RowsOf& of_left,
                              const std::uint16_t* from, const RowsOf& of_right, int queries,
                              int columns) {
        ASSAY_NO_UNROLL
        for (int c = 0; c < columns; c += kDim) {
            lane::barrier();  // nobody reads the last piece any more
            load_tile<kKeys, kDim, kThreads>(shared + Shape::kOfLeft, left + c, of_left.row,
                                             entry.keys - key, columns - c, of_left.wide,
                                             at.number);
            load_tile<kQueries, kDim, kThreads>(right, from + c, of_right.row, queries, columns - c,
                                                of_right.wide, at.number);
            lane::close_group();
            lane::wait_groups<0>();
            lane::barrier();
            multiply_rows<kType, kDim>(sums, warp_left, right, at.number);
        }
    };

    float sums[1][kPiece / kProductColumns][4];
    clear(sums[0]);
    ASSAY_NO_UNROLL
    for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        ASSAY_NO_UNROLL
        for (std::int64_t t = begin; t < end; ++t) {
            const int code = p.tiles[t], query = (code >> 1) * kQueries;
            const int left = entry.queries - query;
            const auto* q = static_cast<const std::uint16_t*>(p.q.data) + entry.q +
                            head * p.q.head + query * p.q.row;
            const auto* d_o = static_cast<const std::uint16_t*>(p.d_o.data) + entry.o +
                              head * p.d_o.head + query * p.d_o.row;
            lane::barrier();  // nobody reads the last step's any more
            if (of_values) {
                load_tile<kQueries, kPiece, kThreads>(sum, d_o + column, p.d_o.row, left,
                                                      p.value_dim - column, p.d_o.wide, at.number);
            } else {
                load_tile<kQueries, kPiece, kThreads>(sum, q + column, p.q.row, left,
                                                      p.dim - column, p.q.wide, at.number);
                load_tile<kKeys, kPiece, kThreads>(keys, k + column, p.k.row, entry.keys - key,
                                                   p.dim - column, p.k.wide, at.number);
            }
            load_rows<kQueries, kThreads>(rows, p, entry, head, query, at.number);

            Scores s;
            clear(s[0]);
            multiply(s, k, p.k, q, p.q, left, p.dim);
            KeyOperand<1, Shape::kQueryTiles> operand;
            to_weights<kType>(s, operand, p, entry, head, query, warp_key, rows, (code & 1) != 0,
                              at.number);
            if (!of_values) {
                Scores d_p;
                clear(d_p[0]);
                multiply(d_p, v, p.v, d_o, p.d_o, left, p.value_dim);
                to_slopes<kType>(s, d_p, operand, rows + kQueries * 4, at.number);
                store_operand<kQueries>(slopes_at, operand, warp * kProductRows, 0, at.number);
            }
            multiply_held<kType, kPiece>(sums, operand, sum, at.number);
            if (of_values) continue;
            lane::barrier();
            float d_q[1][kPiece / kProductColumns][4];
            clear(d_q[0]);
            multiply_depth<kType, true, kQueries, kPiece, kKeys>(d_q, slopes_at, warp, keys, 0,
                                                                 at.number);
            add_to_queries(p, entry, head, query + warp * kProductRows, column, d_q, at.number);
        }
    }
    if (of_values) {
        store_keys<kType>(p.d_v, entry.v, kv_head, warp_key, entry.keys, column, p.value_dim, 1.0F,
                          sums, at.number);
    } else {
        store_keys<kType>(p.d_k, entry.k, kv_head, warp_key, entry.keys, column, p.dim, p.scale,
                          sums, at.number);
    }
}

}  // namespace assay::cuda
