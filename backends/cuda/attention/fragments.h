// Which lane of a warp holds which element of a matrix product's operands, and where an element of
// a tile lies in shared memory. Pure functions: kernels index by them, tests check them.
//
// Products are of mma.m16n8k16: C (16 x 8, fp32) += A (16 x 16) B (16 x 8), 16-bit elements two to
// a register.
#pragma once

#include <cstdint>

#include "work/host_device.h"

namespace assay::cuda {

inline constexpr int kWarp = 32;
inline constexpr int kProductRows = 16, kProductColumns = 8, kProductDepth = 16;

struct Place {
    int row = 0, column = 0;
    bool operator==(const Place&) const = default;
};

// Element 0 .. 3 of the lane's part of C.
ASSAY_HOST_DEVICE constexpr Place sum_place(int lane, int element) {
    return {lane / 4 + 8 * (element / 2), 2 * (lane % 4) + element % 2};
}
// Element 0 or 1 of the lane's register 0 .. 3 of A.
ASSAY_HOST_DEVICE constexpr Place left_place(int lane, int reg, int element) {
    return {lane / 4 + 8 * (reg % 2), 2 * (lane % 4) + 8 * (reg / 2) + element};
}
// The same of register 0 or 1 of B; the row is its depth.
ASSAY_HOST_DEVICE constexpr Place right_place(int lane, int reg, int element) {
    return {2 * (lane % 4) + 8 * reg + element, lane / 4};
}

// Tiles lie in shared memory by rows, in chunks of 16 bytes: 8 elements, which is what ldmatrix
// takes of a row. The chunks of a row are permuted by the row's number, so that the 8 rows of a
// matrix lie in different banks. Rows have a multiple of 8 chunks.
inline constexpr int kChunk = 8;
inline constexpr unsigned kChunkBytes = 16;

ASSAY_HOST_DEVICE constexpr unsigned tile_offset(int row, int chunk, int columns) {
    return static_cast<unsigned>(row * columns * 2) +
           static_cast<unsigned>(chunk ^ (row & 7)) * kChunkBytes;
}

// ldmatrix of four matrices of 8 x 8: a lane names the row of one of them, and is given two
// elements of each. Two orders serve all operands:
//   rows_first: A from rows of A, and (transposing) two B side by side from rows of depth
//   chunks_first: two B side by side from rows of B's columns, and (transposing) A from rows of
//   depth
enum class Order { rows_first, chunks_first };

// The row, and the chunk, of a block of 16 x 16 elements that `lane` names.
ASSAY_HOST_DEVICE constexpr int named_row(Order order, int lane) {
    return order == Order::rows_first ? lane % 16 : lane % 8 + 8 * (lane / 16);
}
ASSAY_HOST_DEVICE constexpr int named_chunk(Order order, int lane) {
    return order == Order::rows_first ? lane / 16 : lane / 8 % 2;
}

// What a lane needs to name its row of any block of 16 x 16 of a tile: one exclusive or and one
// addition a block. at(i, j) is tile_offset() of the row and chunk named in block i down, j right.
struct LaneOffset {
    unsigned start = 0, flip = 0;

    ASSAY_HOST_DEVICE static constexpr LaneOffset of(Order order, int lane, int columns) {
        const int row = named_row(order, lane);
        return {static_cast<unsigned>(row * columns * 2),
                static_cast<unsigned>(named_chunk(order, lane) ^ (row & 7)) * kChunkBytes};
    }
    ASSAY_HOST_DEVICE constexpr unsigned at(int down, int right, int columns) const {
        return start + static_cast<unsigned>(down * 32 * columns) +
               ((static_cast<unsigned>(right) * 2 * kChunkBytes) ^ flip);
    }
};

}  // namespace assay::cuda
