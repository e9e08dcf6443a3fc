// Tiles of 16-bit matrices in shared memory, and their products.
#pragma once

#include "cuda/attention/arguments.h"
#include "cuda/attention/lane.h"

namespace assay::cuda {

// A tile's bytes.
ASSAY_HOST_DEVICE constexpr unsigned tile_bytes(int rows, int columns) {
    return static_cast<unsigned>(rows * columns * 2);
}

// Elements [0, 8) of a row as far as they exist, one by one.
ASSAY_LANE void gather_chunk(std::uint32_t (&words)[4], const std::uint16_t* from, int exist) {
    ASSAY_UNROLL
    for (int i = 0; i < 4; ++i) {
        const std::uint32_t low = 2 * i < exist ? from[2 * i] : 0U;
        const std::uint32_t high = 2 * i + 1 < exist ? from[2 * i + 1] : 0U;
        words[i] = low | high << 16;
    }
}

// Begins to copy rows into a tile of kRows x kColumns. What lies beyond `rows` and `columns`
// becomes 0. Complete when the thread's group is, and seen by others after a barrier.
template <int kRows, int kColumns, int kThreads>
ASSAY_LANE void load_tile(std::uint32_t tile, const std::uint16_t* from, std::int64_t stride,
                          int rows, int columns, bool wide, int thread) {
    constexpr int kChunks = kColumns / kChunk;
    // Chunks of a row that threads side by side copy.
    constexpr int kAcross = kThreads % kChunks == 0 ? kChunks : 8;
    constexpr int kStep = kThreads / kAcross;  // rows that the threads copy at once
    static_assert(kChunks % kAcross == 0 && kThreads % kAcross == 0 && kRows % kStep == 0);
    // Computed again for each tile.
    thread = static_cast<int>(lane::unknown(static_cast<std::uint32_t>(thread)));
    stride = lane::unknown(stride);
    const int first = thread / kAcross;
    if (!wide) {
        ASSAY_NO_UNROLL
        for (int at = thread; at < kRows * kChunks; at += kThreads) {
            const int row = at / kChunks, chunk = at % kChunks;
            std::uint32_t words[4];
            gather_chunk(words, from + row * stride + chunk * kChunk,
                         row < rows ? columns - chunk * kChunk : 0);
            lane::store_shared(tile + tile_offset(row, chunk, kColumns), words);
        }
        return;
    }
    ASSAY_UNROLL
    for (int part = 0; part < kChunks / kAcross; ++part) {
        const int chunk = thread % kAcross + part * kAcross;
        const std::uint16_t* source = from + first * stride + chunk * kChunk;
        ASSAY_UNROLL
        for (int i = 0; i < kRows / kStep; ++i) {
            const int row = first + i * kStep;
            const bool exists = row < rows && chunk * kChunk < columns;
            lane::copy_async(tile + tile_offset(row, chunk, kColumns), exists ? source : from,
                             exists);
            source += kStep * stride;
        }
    }
}

// LaneOffset::of(), computed again for each product.
ASSAY_LANE LaneOffset lane_offset(Order order, int thread, int columns) {
    const auto number = static_cast<int>(lane::unknown(static_cast<std::uint32_t>(thread)));
    return LaneOffset::of(order, number % kWarp, columns);
}

// sums[m][n] += A B^T: A is kSums x 16 rows of a tile from `a` on, B kTiles x 8 rows of one from
// `b` on, both of kColumns.
template <work::Type type, int kColumns, int kSums, int kTiles>
ASSAY_LANE void multiply_rows(float (&sums)[kSums][kTiles][4], std::uint32_t a, std::uint32_t b,
                              int thread) {
    const auto left = lane_offset(Order::rows_first, thread, kColumns);
    const auto right = lane_offset(Order::chunks_first, thread, kColumns);
    // Not further: loads that run ahead of their products take registers.
    ASSAY_UNROLL_TWICE
    for (int step = 0; step < kColumns / kProductDepth; ++step) {
        std::uint32_t x[kSums][4];
        ASSAY_UNROLL
        for (int m = 0; m < kSums; ++m) {
            lane::load_matrices(x[m], a + left.at(m, step, kColumns));
        }
        ASSAY_UNROLL
        for (int n = 0; n < kTiles / 2; ++n) {
            std::uint32_t y[4];
            lane::load_matrices(y, b + right.at(n, step, kColumns));
            ASSAY_UNROLL
            for (int m = 0; m < kSums; ++m) {
                lane::multiply<type>(sums[m][2 * n], x[m], y[0], y[1]);
                lane::multiply<type>(sums[m][2 * n + 1], x[m], y[2], y[3]);
            }
        }
    }
}

// sums[m][n] += A B: A is what the warp holds, kSteps x 16 deep; B's rows of depth lie in a tile of
// kColumns from `b` on, of which the first kTiles x 8 columns count.
template <work::Type type, int kColumns, int kSums, int kSteps, int kTiles>
ASSAY_LANE void multiply_held(float (&sums)[kSums][kTiles][4],
                              const std::uint32_t (&a)[kSums][kSteps][4], std::uint32_t b,
                              int thread) {
    const auto right = lane_offset(Order::rows_first, thread, kColumns);
    ASSAY_UNROLL
    for (int step = 0; step < kSteps; ++step) {
        ASSAY_UNROLL
        for (int n = 0; n < kTiles / 2; ++n) {
            std::uint32_t y[4];
            lane::load_transposed(y, b + right.at(step, n, kColumns));
            ASSAY_UNROLL
            for (int m = 0; m < kSums; ++m) {
                lane::multiply<type>(sums[m][2 * n], a[m][step], y[0], y[1]);
                lane::multiply<type>(sums[m][2 * n + 1], a[m][step], y[2], y[3]);
            }
        }
    }
}

// sums[m][n] += A B, or A^T B where kTurned, kDepth deep: of A, in a tile of kLeftColumns from `a`
// on, the kSums x 16 rows (of A^T) from row16 x 16 on count; of B, in one of kColumns from `b` on,
// the kTiles x 8 columns from column16 x 16 on.
template <work::Type type, bool kTurned, int kLeftColumns, int kColumns, int kDepth, int kSums,
          int kTiles>
ASSAY_LANE void multiply_depth(float (&sums)[kSums][kTiles][4], std::uint32_t a, int row16,
                               std::uint32_t b, int column16, int thread) {
    const auto left =
        lane_offset(kTurned ? Order::chunks_first : Order::rows_first, thread, kLeftColumns);
    const auto right = lane_offset(Order::rows_first, thread, kColumns);
    ASSAY_UNROLL_TWICE
    for (int step = 0; step < kDepth / kProductDepth; ++step) {
        std::uint32_t x[kSums][4];
        ASSAY_UNROLL
        for (int m = 0; m < kSums; ++m) {
            if constexpr (kTurned) {
                lane::load_transposed(x[m], a + left.at(step, row16 + m, kLeftColumns));
            } else {
                lane::load_matrices(x[m], a + left.at(row16 + m, step, kLeftColumns));
            }
        }
        ASSAY_UNROLL
        for (int n = 0; n < kTiles / 2; ++n) {
            std::uint32_t y[4];
            lane::load_transposed(y, b + right.at(step, column16 + n, kColumns));
            ASSAY_UNROLL
            for (int m = 0; m < kSums; ++m) {
                lane::multiply<type>(sums[m][2 * n], x[m], y[0], y[1]);
                lane::multiply<type>(sums[m][2 * n + 1], x[m], y[2], y[3]);
            }
        }
    }
}

// C's elements as A of the next product, rounded to `type`: two of C's tiles of 8 columns are 16 of
// depth.
template <work::Type type, int kTiles>
ASSAY_LANE void pack_left(std::uint32_t (&a)[kTiles / 2][4], const float (&c)[kTiles][4]) {
    ASSAY_UNROLL
    for (int step = 0; step < kTiles / 2; ++step) {
        a[step][0] = lane::pack<type>(c[2 * step][0], c[2 * step][1]);
        a[step][1] = lane::pack<type>(c[2 * step][2], c[2 * step][3]);
        a[step][2] = lane::pack<type>(c[2 * step + 1][0], c[2 * step + 1][1]);
        a[step][3] = lane::pack<type>(c[2 * step + 1][2], c[2 * step + 1][3]);
    }
}

template <int kTiles>
ASSAY_LANE void clear(float (&sums)[kTiles][4]) {
    ASSAY_UNROLL
    for (int n = 0; n < kTiles; ++n) {
        ASSAY_UNROLL
        for (int i = 0; i < 4; ++i) sums[n][i] = 0;
    }
}

template <int kTiles>
ASSAY_LANE void multiply(float (&sums)[kTiles][4], float factor) {
    ASSAY_UNROLL
    for (int n = 0; n < kTiles; ++n) {
        ASSAY_UNROLL
        for (int i = 0; i < 4; ++i) sums[n][i] *= factor;
    }
}

// Writes two neighbours of a row, `column` and the next, as far as `columns` has them.
template <work::Type type>
ASSAY_LANE void store_pair(std::uint16_t* row, int column, int columns, bool wide, float first,
                           float second) {
    const std::uint32_t both = lane::pack<type>(first, second);
    if (wide) {
        if (column < columns) *reinterpret_cast<std::uint32_t*>(row + column) = both;
        return;
    }
    if (column < columns) row[column] = static_cast<std::uint16_t>(both);
    if (column + 1 < columns) row[column + 1] = static_cast<std::uint16_t>(both >> 16);
}

}  // namespace assay::cuda
