// Both passes of fp32 by ordinary multiply-adds, for heads of any size: accurate first. A block
// has 64 x 64 scores, a thread 4 x 4 of them: rows and columns that lie 16 apart.
#pragma once

#include "cuda/attention/rows.h"

namespace assay::cuda {

struct SimtShape {
    static constexpr int kSide = 64;   // queries and keys of a tile
    static constexpr int kPiece = 64;  // columns of an output that a block has
    static constexpr int kDepth = 16;  // columns of operands multiplied at a time
    static constexpr int kThreads = 256, kThreadSide = 16, kOwn = kSide / kThreadSide;
    static constexpr int kPitch = kSide + 1;  // against bank conflicts

    // Shared memory, in floats: two operands by columns, scores, an operand by rows.
    static constexpr std::uint32_t kLeft = 0;
    static constexpr std::uint32_t kRight = kDepth * kPitch;
    static constexpr std::uint32_t kScores = 2 * kDepth * kPitch;
    static constexpr std::uint32_t kRows = kScores + kSide * kPitch;
    static constexpr unsigned kSharedBytes = (kRows + kSide * kPitch) * sizeof(float);
};

// A matrix of floats by rows, of which some exist; the others are 0.
struct FloatRows {
    const float* data = nullptr;
    std::int64_t stride = 0;
    int rows = 0, columns = 0;

    ASSAY_LANE float at(int row, int column) const {
        return row < rows && column < columns ? data[row * stride + column] : 0.0F;
    }
};

using Own = float[SimtShape::kOwn][SimtShape::kOwn];

class Simt {
  public:
    ASSAY_LANE explicit Simt(int thread) : thread_(thread), shared_(lane::shared_base()) {}

    // The thread's rows and columns: i of 0 .. 3.
    ASSAY_LANE int row(int i) const { return thread_ / SimtShape::kThreadSide + 16 * i; }
    ASSAY_LANE int column(int i) const { return thread_ % SimtShape::kThreadSide + 16 * i; }

    // sums += left right^T, over all columns.
    ASSAY_LANE void multiply(Own& sums, const FloatRows& left, const FloatRows& right) const {
        for (int c = 0; c < left.columns; c += SimtShape::kDepth) {
            lane::barrier();
            ASSAY_UNROLL
            for (int i = 0; i < SimtShape::kSide * SimtShape::kDepth / SimtShape::kThreads; ++i) {
                const int at = thread_ + i * SimtShape::kThreads;
                const int r = at / SimtShape::kDepth, d = at % SimtShape::kDepth;
                store(SimtShape::kLeft, d, r, left.at(r, c + d));
                store(SimtShape::kRight, d, r, right.at(r, c + d));
            }
            lane::barrier();
            ASSAY_UNROLL
            for (int d = 0; d < SimtShape::kDepth; ++d) {
                add(sums, SimtShape::kLeft, d, SimtShape::kRight, d);
            }
        }
    }

    // Keeps `values` as the block's scores: row r, column c of the tile at [c][r], or turned.
    ASSAY_LANE void keep(const Own& values, bool turned) const {
        ASSAY_UNROLL
        for (int i = 0; i < SimtShape::kOwn; ++i) {
            ASSAY_UNROLL
            for (int j = 0; j < SimtShape::kOwn; ++j) {
                if (turned) {
                    store(SimtShape::kScores, row(i), column(j), values[i][j]);
                } else {
                    store(SimtShape::kScores, column(j), row(i), values[i][j]);
                }
            }
        }
    }
    // Keeps 64 rows of a matrix.
    ASSAY_LANE void keep_rows(const FloatRows& matrix) const {
        for (int i = 0; i < SimtShape::kSide * SimtShape::kPiece / SimtShape::kThreads; ++i) {
            const int at = thread_ + i * SimtShape::kThreads;
            const int r = at / SimtShape::kPiece, c = at % SimtShape::kPiece;
            store(SimtShape::kRows, r, c, matrix.at(r, c));
        }
    }
    // sums[r][c] += kept scores[d][r] x kept rows[d][c] over d.
    ASSAY_LANE void multiply_kept(Own& sums) const {
        for (int d = 0; d < SimtShape::kSide; ++d) {
            add(sums, SimtShape::kScores, d, SimtShape::kRows, d);
        }
    }

  private:
    ASSAY_LANE std::uint32_t address(std::uint32_t part, int d, int r) const {
        return shared_ + (part + static_cast<std::uint32_t>(d * SimtShape::kPitch + r)) * 4;
    }
    ASSAY_LANE void store(std::uint32_t part, int d, int r, float value) const {
        lane::store_shared(address(part, d, r), value);
    }
    ASSAY_LANE void add(Own& sums, std::uint32_t left, int left_d, std::uint32_t right,
                        int right_d) const {
        float x[SimtShape::kOwn], y[SimtShape::kOwn];
        ASSAY_UNROLL
        for (int i = 0; i < SimtShape::kOwn; ++i) {
            x[i] = lane::load_shared(address(left, left_d, row(i)));
            y[i] = lane::load_shared(address(right, right_d, column(i)));
        }
        ASSAY_UNROLL
        for (int i = 0; i < SimtShape::kOwn; ++i) {
            ASSAY_UNROLL
            for (int j = 0; j < SimtShape::kOwn; ++j) sums[i][j] = fmaf(x[i], y[j], sums[i][j]);
        }
    }

    int thread_;
    std::uint32_t shared_;
};

ASSAY_LANE FloatRows float_rows(const RowsOf& of, std::int64_t entry_at, int head, int row,
                                int rows, int column, int columns) {
    return {static_cast<const float*>(of.data) + entry_at + head * of.head + row * of.row + column,
            of.row, rows - row, columns - column};
}

// A score and its derivative by the scaled product.
struct Score {
    float value = 0, slope = 1;
};

// A product scaled and modified, to fp32's full accuracy, with its slope. The mask isn't asked.
ASSAY_LANE Score exact_score(const AttentionArguments& p, const Entry& entry, int head, float slope,
                             int query, int key, float product) {
    Score score{product * p.scale, 1};
    if (p.soft_cap > 0) {
        const float t = tanhf(score.value / p.soft_cap);
        score = {p.soft_cap * t, 1.0F - t * t};
    }
    if (p.alibi) {
        const int distance = query + entry.shift - key;
        score.value -= slope * static_cast<float>(distance < 0 ? -distance : distance);
    }
    if (p.bias != nullptr && query < entry.queries && key < entry.keys) {
        score.value +=
            static_cast<const float*>(p.bias)[head * p.bias_head + query * p.bias_row + key];
    }
    return score;
}

ASSAY_LANE void attend_simt(const AttentionArguments& p, const Thread& at) {
    constexpr int kSide = SimtShape::kSide, kOwn = SimtShape::kOwn;
    int rest = at.block;
    const int tile = p.tile_rows - 1 - rest % p.tile_rows;
    rest /= p.tile_rows;
    const int column = rest % p.value_pieces * SimtShape::kPiece;
    rest /= p.value_pieces;
    const int head = rest % p.heads;
    const Entry entry = p.entries[rest / p.heads];
    const int query = tile * kSide;
    if (query >= entry.queries) return;
    const int kv_head = head / (p.heads / p.kv_heads);
    const float slope = slope_of(p, head);
    const Simt simt(at.number);
    const auto q = float_rows(p.q, entry.q, head, query, entry.queries, 0, p.dim);

    float largest[kOwn], sum[kOwn];
    Own o = {};
    ASSAY_UNROLL
    for (int i = 0; i < kOwn; ++i) {
        largest[i] = minus_infinity();
        sum[i] = 0;
    }
    const std::int64_t end = p.first[entry.tiles + tile + 1];
    for (std::int64_t t = p.first[entry.tiles + tile]; t < end; ++t) {
        const int key = (p.tiles[t] >> 1) * kSide;
        const bool full = (p.tiles[t] & 1) != 0;
        Own s = {};
        simt.multiply(s, q, float_rows(p.k, entry.k, kv_head, key, entry.keys, 0, p.dim));
        ASSAY_UNROLL
        for (int i = 0; i < kOwn; ++i) {
            const int row = query + simt.row(i);
            const auto sight = sight_of(p, entry, row);
            float top = largest[i];
            ASSAY_UNROLL
            for (int j = 0; j < kOwn; ++j) {
                const int at_key = key + simt.column(j);
                s[i][j] = full || sees(p, sight, row, at_key)
                              ? exact_score(p, entry, head, slope, row, at_key, s[i][j]).value
                              : minus_infinity();
                top = fmaxf(top, s[i][j]);
            }
            // The 16 lanes that share the row.
            for (int mask = 1; mask < SimtShape::kThreadSide; mask *= 2) {
                top = fmaxf(top, lane::shuffle_xor(top, mask));
            }
            const float offset = top == minus_infinity() ? 0.0F : top;
            const float shrink = expf(largest[i] - offset);
            largest[i] = top;
            sum[i] *= shrink;
            ASSAY_UNROLL
            for (int j = 0; j < kOwn; ++j) {
                s[i][j] = expf(s[i][j] - offset);
                sum[i] += s[i][j];
                o[i][j] *= shrink;
            }
        }
        // What was kept for the last tile was read before the barriers within multiply().
        simt.keep(s, false);
        simt.keep_rows(float_rows(p.v, entry.v, kv_head, key, entry.keys, column, p.value_dim));
        lane::barrier();
        simt.multiply_kept(o);
    }
    float* data = static_cast<float*>(p.o.data) + entry.o + head * p.o.head;
    float* lse = p.lse + entry.lse + head * p.lse_head;
    ASSAY_UNROLL
    for (int i = 0; i < kOwn; ++i) {
        for (int mask = 1; mask < SimtShape::kThreadSide; mask *= 2) {
            sum[i] += lane::shuffle_xor(sum[i], mask);
        }
        const int row = query + simt.row(i);
        if (row >= entry.queries) continue;
        ASSAY_UNROLL
        for (int j = 0; j < kOwn; ++j) {
            const int c = column + simt.column(j);
            if (c < p.value_dim) data[row * p.o.row + c] = sum[i] == 0 ? 0.0F : o[i][j] / sum[i];
        }
        if (column == 0 && simt.column(0) == 0) {
            lse[row * p.lse_row] = sum[i] == 0 ? minus_infinity() : largest[i] + logf(sum[i]);
        }
    }
}

// Jobs as in backward_pieces.h. Rows of a tile are queries.
ASSAY_LANE void attend_back_simt(const AttentionArguments& p, const Thread& at) {
    constexpr int kSide = SimtShape::kSide, kOwn = SimtShape::kOwn;
    int rest = at.block;
    const int tile = rest % p.tile_rows;
    rest /= p.tile_rows;
    const int job = rest % (p.value_pieces + p.key_pieces);
    rest /= p.value_pieces + p.key_pieces;
    const int kv_head = rest % p.kv_heads;
    const Entry entry = p.entries[rest / p.kv_heads];
    const int key = tile * kSide;
    if (key >= entry.keys) return;
    const bool of_values = job < p.value_pieces;
    const int column = (of_values ? job : job - p.value_pieces) * SimtShape::kPiece;
    const int group = p.heads / p.kv_heads;
    const Simt simt(at.number);
    const auto k = float_rows(p.k, entry.k, kv_head, key, entry.keys, 0, p.dim);
    const auto v = float_rows(p.v, entry.v, kv_head, key, entry.keys, 0, p.value_dim);

    Own sums = {};
    const std::int64_t begin = p.first[entry.tiles + tile], end = p.first[entry.tiles + tile + 1];
    for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        const float slope = slope_of(p, head);
        for (std::int64_t t = begin; t < end; ++t) {
            const int query = (p.tiles[t] >> 1) * kSide;
            const bool full = (p.tiles[t] & 1) != 0;
            const auto d_o = [&](int from) {
                return float_rows(p.d_o, entry.o, head, query, entry.queries, from, p.value_dim);
            };
            const auto q = [&](int from) {
                return float_rows(p.q, entry.q, head, query, entry.queries, from, p.dim);
            };
            Own s = {}, d_p = {};
            simt.multiply(s, q(0), k);
            if (!of_values) simt.multiply(d_p, d_o(0), v);
            ASSAY_UNROLL
            for (int i = 0; i < kOwn; ++i) {
                const int row = query + simt.row(i);
                const bool exists = row < entry.queries;
                const auto sight = sight_of(p, entry, row);
                const std::int64_t of_row = head * p.rows + entry.row + row;
                const float lse =
                    exists ? p.lse[entry.lse + head * p.lse_head + row * p.lse_row] : 0.0F;
                const float delta = exists ? p.delta[of_row] : 0.0F;
                ASSAY_UNROLL
                for (int j = 0; j < kOwn; ++j) {
                    const int at_key = key + simt.column(j);
                    const auto score = exact_score(p, entry, head, slope, row, at_key, s[i][j]);
                    const bool seen = exists && (full || sees(p, sight, row, at_key));
                    const float weight = seen ? expf(score.value - lse) : 0.0F;
                    s[i][j] = of_values ? weight : weight * score.slope * (d_p[i][j] - delta);
                }
            }
            // For sums of keys: over queries, which are the depth.
            lane::barrier();
            simt.keep(s, true);
            simt.keep_rows(of_values ? d_o(column) : q(column));
            lane::barrier();
            simt.multiply_kept(sums);
            if (of_values) continue;
            // For d_q: over keys.
            lane::barrier();
            simt.keep(s, false);
            simt.keep_rows(float_rows(p.k, entry.k, kv_head, key, entry.keys, column, p.dim));
            lane::barrier();
            Own d_q = {};
            simt.multiply_kept(d_q);
            ASSAY_UNROLL
            for (int i = 0; i < kOwn; ++i) {
                const int row = query + simt.row(i);
                if (row >= entry.queries) continue;
                float* to = p.sum_q + (head * p.rows + entry.row + row) * p.sum_row;
                ASSAY_UNROLL
                for (int j = 0; j < kOwn; ++j) {
                    const int c = column + simt.column(j);
                    if (c < p.dim) lane::add_global(to + c, d_q[i][j]);
                }
            }
        }
    }
    const auto& gradient = of_values ? p.d_v : p.d_k;
    const int columns = of_values ? p.value_dim : p.dim;
    float* to = static_cast<float*>(gradient.data) + (of_values ? entry.v : entry.k) +
                kv_head * gradient.head;
    ASSAY_UNROLL
    for (int i = 0; i < kOwn; ++i) {
        const int row = key + simt.row(i);
        if (row >= entry.keys) continue;
        ASSAY_UNROLL
        for (int j = 0; j < kOwn; ++j) {
            const int c = column + simt.column(j);
            if (c < columns) to[row * gradient.row + c] = sums[i][j] * (of_values ? 1.0F : p.scale);
        }
    }
}

}  // namespace assay::cuda
