// Which rows of attention are checked: the most telling that a budget pays for.
#pragma once

#include <cstdint>
#include <vector>

#include "work/attention.h"

namespace assay::probes {

// Rows of a head of an entry: queries or keys.
struct SampledRow {
    std::int64_t entry = 0, head = 0, row = 0;
    bool operator==(const SampledRow&) const = default;
    auto operator<=>(const SampledRow&) const = default;
};

// The first and last rows, those at the edges of tiles of 64 and 128, of windows and of documents,
// and others spread evenly; of the first, a middle and the last entry, and of the heads at both
// ends, in the middle and at the first boundary between groups. As many as take
// `budget` elements of q, k, v or d_o to compute, the most telling first. At least four queries.
// Keys that more queries see than the budget pays for are left out, under a causal mask
// the early ones; where all are, the cheapest is taken if it costs four budgets at most.
std::vector<SampledRow> sampled_queries(const work::Attention& problem, double budget);
std::vector<SampledRow> sampled_keys(const work::Attention& problem, double budget);

}  // namespace assay::probes
