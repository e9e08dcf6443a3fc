// The maps from lanes to elements, and the kernels' products on small matrices.
#include "cuda/attention/fragments.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/attention/tile.h"
#include "warp_emulator.h"
#include "work/fill.h"

namespace assay::cuda {
namespace {

using work::Type;

TEST(CudaFragments, HoldEachElementOnce) {
    std::set<std::pair<int, int>> sums, left, right;
    for (int lane = 0; lane < kWarp; ++lane) {
        for (int i = 0; i < 4; ++i) {
            const auto place = sum_place(lane, i);
            sums.emplace(place.row, place.column);
            for (int e = 0; e < 2; ++e) {
                left.emplace(left_place(lane, i, e).row, left_place(lane, i, e).column);
                if (i < 2)
                    right.emplace(right_place(lane, i, e).row, right_place(lane, i, e).column);
            }
        }
    }
    EXPECT_EQ(sums.size(), 16U * 8U);
    EXPECT_EQ(left.size(), 16U * 16U);
    EXPECT_EQ(right.size(), 16U * 8U);
    EXPECT_EQ(*sums.rbegin(), std::pair(15, 7));
    EXPECT_EQ(*left.rbegin(), std::pair(15, 15));
    EXPECT_EQ(*right.rbegin(), std::pair(15, 7));
    // Spot checks of the instruction's own table.
    EXPECT_EQ(sum_place(5, 3), (Place{9, 3}));
    EXPECT_EQ(left_place(5, 1, 0), (Place{9, 2}));
    EXPECT_EQ(left_place(5, 2, 1), (Place{1, 11}));
    EXPECT_EQ(right_place(5, 1, 1), (Place{11, 1}));
}

// What ldmatrix gives `lane` in register m, when lanes name rows in this order: of the 16 x 16
// block, the row and column of its element e.
Place given(Order order, bool transposed, int lane, int m, int e) {
    const int along = 2 * (lane % 4) + e, across = lane / 4;
    const int namer = 8 * m + (transposed ? along : across);
    return {named_row(order, namer),
            kChunk * named_chunk(order, namer) + (transposed ? across : along)};
}

// The four ways that tiles become operands.
TEST(CudaFragments, AreWhatTheLoadsGive) {
    for (int lane = 0; lane < kWarp; ++lane) {
        for (int m = 0; m < 4; ++m) {
            for (int e = 0; e < 2; ++e) {
                const auto left = left_place(lane, m, e);
                EXPECT_EQ(given(Order::rows_first, false, lane, m, e), left);
                EXPECT_EQ(given(Order::chunks_first, true, lane, m, e),
                          (Place{left.column, left.row}));
                // Registers 0 and 1 are of the first 8 columns, 2 and 3 of the next.
                auto right = right_place(lane, m % 2, e);
                right.column += m / 2 * kProductColumns;
                EXPECT_EQ(given(Order::chunks_first, false, lane, m, e),
                          (Place{right.column, right.row}));
                EXPECT_EQ(given(Order::rows_first, true, lane, m, e), right);
            }
        }
    }
}

// Two of C's tiles are A of the next product.
TEST(CudaFragments, SumsAreTheNextLeftOperand) {
    for (int lane = 0; lane < kWarp; ++lane) {
        for (int reg = 0; reg < 4; ++reg) {
            for (int e = 0; e < 2; ++e) {
                // As pack_left() does.
                auto place = sum_place(lane, 2 * (reg % 2) + e);
                place.column += reg / 2 * kProductColumns;
                EXPECT_EQ(left_place(lane, reg, e), place);
            }
        }
    }
}

TEST(CudaTiles, GiveEachChunkItsPlaceAndEightRowsDifferentBanks) {
    for (const int columns : {64, 128, 192, 256}) {
        std::set<unsigned> places;
        const int chunks = columns / kChunk;
        for (int row = 0; row < 64; ++row) {
            for (int chunk = 0; chunk < chunks; ++chunk) {
                const auto offset = tile_offset(row, chunk, columns);
                EXPECT_EQ(offset % kChunkBytes, 0U);
                EXPECT_LT(offset, tile_bytes(64, columns));
                places.insert(offset);
            }
        }
        EXPECT_EQ(places.size(), static_cast<std::size_t>(64 * chunks));
        for (int row = 0; row < 64; row += 8) {
            for (int chunk = 0; chunk < chunks; ++chunk) {
                std::set<unsigned> banks;
                for (int i = 0; i < 8; ++i) {
                    banks.insert(tile_offset(row + i, chunk, columns) % 128);
                }
                EXPECT_EQ(banks.size(), 8U);
            }
        }
        for (const auto order : {Order::rows_first, Order::chunks_first}) {
            for (int lane = 0; lane < kWarp; ++lane) {
                const auto own = LaneOffset::of(order, lane, columns);
                for (int down = 0; down < 4; ++down) {
                    for (int right = 0; right < columns / 16; ++right) {
                        EXPECT_EQ(own.at(down, right, columns),
                                  tile_offset(16 * down + named_row(order, lane),
                                              2 * right + named_chunk(order, lane), columns));
                    }
                }
            }
        }
    }
}

// A matrix of 16-bit integers small enough for exact sums, and its value.
struct Matrix {
    Matrix(int rows, int columns, std::uint32_t stream)
        : width(columns), bits(static_cast<std::size_t>(rows * columns)) {
        work::fill({work::Distribution::ints, 3, stream}, Type::bf16, 0, bits.size(), bits.data());
    }
    float at(int row, int column) const {
        return static_cast<float>(
            work::load(Type::bf16, bits.data(), static_cast<std::uint64_t>(row * width + column)));
    }
    int width;
    std::vector<std::uint16_t> bits;
};

// All products as kernels use them, on a warp: sums = A B^T, then (rounded) times C; D^T C and D C.
TEST(CudaTiles, MultiplyAsMatricesDo) {
    constexpr int kColumns = 64;
    const Matrix a(32, kColumns, 1), b(64, kColumns, 2), c(64, kColumns, 3), d(64, kColumns, 4);
    constexpr unsigned kA = 0, kB = tile_bytes(32, kColumns), kC = kB + tile_bytes(64, kColumns),
                       kD = kC + tile_bytes(64, kColumns), kEnd = kD + tile_bytes(64, kColumns);
    for (const bool wide : {true, false}) {
        std::vector<float> scores(32 * 64), outputs(32 * 64), turned(32 * 32), straight(32 * 32);
        emulate(1, kWarp, kEnd, {false, false}, [&](const Thread& at) {
            load_tile<32, kColumns, kWarp>(kA, a.bits.data(), kColumns, 32, kColumns, wide,
                                           at.number);
            load_tile<64, kColumns, kWarp>(kB, b.bits.data(), kColumns, 61, 56, wide, at.number);
            load_tile<64, kColumns, kWarp>(kC, c.bits.data(), kColumns, 64, kColumns, wide,
                                           at.number);
            load_tile<64, kColumns, kWarp>(kD, d.bits.data(), kColumns, 64, kColumns, wide,
                                           at.number);
            lane::close_group();
            lane::wait_groups<0>();
            lane::barrier();
            float s[2][8][4] = {}, o[2][8][4] = {}, t[2][4][4] = {}, u[2][4][4] = {};
            multiply_rows<Type::bf16, kColumns>(s, kA, kB, at.number);
            // Within what bf16 holds exactly.
            for (auto& m : s) {
                for (auto& n : m) {
                    for (float& x : n) x = x < -8 ? -8 : x > 8 ? 8 : x;
                }
            }
            std::uint32_t packed[2][4][4];
            for (int m = 0; m < 2; ++m) pack_left<Type::bf16, 8>(packed[m], s[m]);
            multiply_held<Type::bf16, kColumns>(o, packed, kC, at.number);
            multiply_depth<Type::bf16, true, kColumns, kColumns, 64>(t, kD, 2, kC, 1, at.number);
            multiply_depth<Type::bf16, false, kColumns, kColumns, 64>(u, kD, 2, kC, 1, at.number);
            for (int n = 0; n < 8; ++n) {
                for (int i = 0; i < 4; ++i) {
                    const auto place = sum_place(at.number, i);
                    for (int m = 0; m < 2; ++m) {
                        const auto to = static_cast<std::size_t>((16 * m + place.row) * 64 + 8 * n +
                                                                 place.column);
                        scores[to] = s[m][n][i];
                        outputs[to] = o[m][n][i];
                        if (n >= 4) continue;
                        const auto at_part = static_cast<std::size_t>((16 * m + place.row) * 32 +
                                                                      8 * n + place.column);
                        turned[at_part] = t[m][n][i];
                        straight[at_part] = u[m][n][i];
                    }
                }
            }
        });
        for (int row = 0; row < 32; ++row) {
            for (int column = 0; column < 64; ++column) {
                float sum = 0;
                for (int k = 0; k < 56; ++k)
                    sum += column < 61 ? a.at(row, k) * b.at(column, k) : 0;
                sum = sum < -8 ? -8 : sum > 8 ? 8 : sum;
                ASSERT_EQ(scores[static_cast<std::size_t>(row * 64 + column)], sum);
                float output = 0;
                for (int k = 0; k < 64; ++k) {
                    output += scores[static_cast<std::size_t>(row * 64 + k)] * c.at(k, column);
                }
                ASSERT_EQ(outputs[static_cast<std::size_t>(row * 64 + column)], output);
            }
        }
        for (int row = 0; row < 32; ++row) {
            for (int column = 0; column < 32; ++column) {
                float of_turned = 0, of_straight = 0;
                for (int k = 0; k < 64; ++k) {
                    of_turned += d.at(k, 32 + row) * c.at(k, 16 + column);
                    of_straight += d.at(32 + row, k) * c.at(k, 16 + column);
                }
                ASSERT_EQ(turned[static_cast<std::size_t>(row * 32 + column)], of_turned);
                ASSERT_EQ(straight[static_cast<std::size_t>(row * 32 + column)], of_straight);
            }
        }
    }
}

TEST(CudaTiles, SightIsTwoSpans) {
    Sight sight;
    EXPECT_FALSE(sight.sees(0));
    sight = {{3, 10}, {2, 1}};
    for (int key = -2; key < 20; ++key) {
        EXPECT_EQ(sight.sees(key), key == 3 || key == 4 || key == 10) << key;
    }
}

}  // namespace
}  // namespace assay::cuda
