// Attention in double precision: what every other implementation is held against.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "work/attention.h"

namespace assay::work {

// Where the oracle reads operands from: memory, a device's copy, or a random stream.
class AttentionSource {
  public:
    virtual ~AttentionSource() = default;
    // The row's elements as their type holds them. `tensor` is q, k or v.
    virtual void read(AttentionTensor tensor, std::int64_t entry, std::int64_t head,
                      std::int64_t row, std::span<double> into) const = 0;
    // A row of the loss's gradient to o.
    virtual void read_gradient(std::int64_t entry, std::int64_t head, std::int64_t row,
                               std::span<double> into) const = 0;
    // The bias of one pair; asked for only where the modifier has one.
    virtual double bias(std::int64_t head, std::int64_t query, std::int64_t key) const = 0;
};

// What the backward pass knows of a row of the forward one.
struct AttentionRow {
    double lse = 0;    // -infinity where the row sees no key
    double delta = 0;  // d_o . o
    double bound = 0;  // of delta: |d_o| |o|; needed for TermSizes only
};

// The terms whose sum a row of a gradient is, each as large as it can be before it cancels: scale p
// (|d_o| |v| + |d_o| |o|) times |k|, of a key |q|. What rounding leaves of them goes by these, not
// by the gradient, which may vanish: as where a row sees one key.
struct TermSizes {
    double squares = 0;  // sum of their squares: as they add up where their signs are any
    double sum = 0;      // as they add up where they all have one

    void add(double term);
};

// One entry of the batch; rows are read as they are needed, so that sampled rows of long problems
// take no more than they must. The problem and the source must outlive it.
class AttentionOracle {
  public:
    AttentionOracle(const Attention& problem, const AttentionSource& source, std::int64_t entry);

    struct Output {
        double lse = 0;
        std::vector<double> o;  // value_dim
    };
    Output output(std::int64_t head, std::int64_t query) const;

    // Of the loss's gradient: its lse and delta by the oracle's own output.
    AttentionRow row(std::int64_t head, std::int64_t query) const;
    std::vector<double> d_q(std::int64_t head, std::int64_t query) const;
    struct QueryGradient {
        std::vector<double> d_q;  // dim
        TermSizes terms;
        // What errors of o's elements would do that are as large as these, their signs any: all
        // terms have one delta, so that this is |d_o o, element by element| |sum of scale p k|.
        double by_output = 0;
    };
    // `forward` is output(head, query).
    QueryGradient query_gradient(std::int64_t head, std::int64_t query,
                                 const Output& forward) const;

    struct KeyGradient {
        std::vector<double> d_k, d_v;  // dim, value_dim
        TermSizes terms;               // of d_k
    };
    // Sums over every query that sees `key`, and every head of the group. What those rows' lse and
    // delta are is asked of `row`: computing them costs the whole forward pass, so that a check of
    // sampled keys passes what the device gave for them, and samples that apart.
    KeyGradient key_gradient(
        std::int64_t kv_head, std::int64_t key,
        const std::function<AttentionRow(std::int64_t head, std::int64_t query)>& row) const;

  private:
    // s[i, j] and its derivative by the scaled product.
    struct Score {
        double value, slope;
    };
    Score score(std::int64_t head, std::int64_t query, std::int64_t key, double product) const;
    std::vector<double> read(AttentionTensor tensor, std::int64_t head, std::int64_t row) const;
    std::vector<double> gradient(std::int64_t head, std::int64_t query) const;

    const Attention& problem_;
    const AttentionSource& source_;
    std::int64_t entry_;
    double scale_;
    MaskRows rows_;
};

}  // namespace assay::work
