// What a kernel goes by for a problem's mask and lengths, made on the host.
#pragma once

#include <limits>
#include <vector>

#include "cuda/attention/arguments.h"
#include "ops/attention.h"
#include "work/attention.h"

namespace assay::cuda {

struct AttentionPlan {
    std::vector<Entry> entries;
    std::vector<std::int64_t> first;
    std::vector<std::int32_t> tiles;
    std::vector<Sight> sights;
    std::vector<std::uint32_t> blocks;
    std::int32_t block_size = 1, block_words = 0;
    std::int32_t tile_rows = 0;  // of the entry with the most
    std::int64_t rows = 0;       // queries of all entries
    std::int64_t key_rows = 0;   // their keys
};

// Tiles of queries x keys; listed by tiles of queries, or of keys. Entries of equal lengths share
// theirs.
AttentionPlan plan_attention(const work::Attention& problem, int queries, int keys, bool by_keys);

// Blocks that share a tile of keys, and the steps that each takes at most; see AttentionArguments.
struct Shares {
    std::int32_t count = 1, steps = std::numeric_limits<std::int32_t>::max();
    bool operator==(const Shares&) const = default;
};

// For a plan by tiles of `keys` keys on a device of so many multiprocessors: more than one where
// tiles alone leave some of them idle.
Shares share_steps(const work::Attention& problem, const AttentionPlan& plan, int keys,
                   int processors);

// The problem's numbers and strides, without addresses.
AttentionArguments arguments_of(const work::Attention& problem, const AttentionPlan& plan);

// Sets the operands' addresses in arguments that have none yet.
void set_operands(AttentionArguments& arguments, const ops::AttentionOperands& operands);

}  // namespace assay::cuda
