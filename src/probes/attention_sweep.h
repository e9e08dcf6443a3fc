// A size of attention swept over a range, to find the sizes that take longer than the same work
// padded with zeros to a larger one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/attention_problem.h"
#include "probes/probe.h"

namespace assay::probes {

struct AttentionSweep {
    enum class Size { dim, seq };
    Size size = Size::dim;
    std::vector<std::int64_t> sizes;

    std::string_view name() const { return size == Size::dim ? "dim" : "seq"; }
    // The case at one size: the dim of queries and keys, and of values where it was the same; or
    // as many queries as keys, the mask's words read anew.
    AttentionCase at(const AttentionCase& attention, std::int64_t value) const;
    // The case that stands for all: at the first size, so that it doesn't depend on what isn't
    // measured; values with a dim of their own keep it, and the case takes the last size where the
    // first would make the two dims equal.
    AttentionCase base(const AttentionCase& attention, bool own_value_dim) const;
};

// "dim=64..256+8" or "seq=1000..1100+10". Throws UsageError for another dimension, one size, or
// sizes that don't rise.
AttentionSweep parse_attention_sweep(std::string_view text);
// Throws UsageError where a size has no meaning for the case, or padding would change the numbers:
// a bias, blocks or ragged lengths with seq.
void validate(const AttentionSweep& sweep, const AttentionCase& attention);

// The same attention among zeros.
struct PaddedAttention {
    AttentionCase outer;    // what the device computes
    work::Attention inner;  // the case's own problem, at the outer one's strides
};
// `attention` at `size`, among zeros up to `to`. A padded dim keeps the scale of the true one:
// zeros add nothing to a score, and columns of zeros in v give columns of zeros in o. A padded
// sequence has more queries and keys; the true queries don't see the added keys because they stand
// behind them in a causal mask, or are a document of their own, or else by the lengths of its
// entries (ragged at fixed places).
PaddedAttention pad(const AttentionSweep& sweep, const AttentionCase& attention, std::int64_t size,
                    std::int64_t to);

// First every size as it is, interleaved: samples "dim=72", the median seconds of each round, and
// the series "time". Then each size that surely takes longer than a larger one, interleaved with
// itself padded to the larger one that takes the least: samples "dim=72 beside" and "dim=72 padded
// to 80". The series "padding gain" and "pad to" (x: the size) hold those where the interval of
// the ratio of these, over at least six rounds, lies wholly above 1 + the verdict's margin. Sizes
// that no provider takes, or that have no room, stand in the setting "left out". All sizes lie in
// memory for the largest, and padded ones in theirs one after the other.
void measure_sweep(const AttentionCase& attention, const AttentionSweep& sweep, Bench& bench,
                   record::Result& result);

// "cliffs" and "largest padding gain".
std::vector<record::Metric> attention_sweep_metrics(const record::Result& result);

}  // namespace assay::probes
