// Problems of attention, briefly.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "work/attention.h"

namespace assay::cuda {

struct AttentionShape {
    std::int64_t batch = 2, heads = 4, kv_heads = 4;
    std::int64_t queries = 256, keys = 256;
    std::int64_t dim = 64, value_dim = 64;
};

inline work::Attention attention(const AttentionShape& shape, std::string_view mask = "causal",
                                 work::AttentionLayout layout = work::AttentionLayout::bshd,
                                 work::Type type = work::Type::bf16) {
    work::Attention p;
    p.batch = shape.batch;
    p.heads = shape.heads;
    p.kv_heads = shape.kv_heads;
    p.queries = shape.queries;
    p.keys = shape.keys;
    p.dim = shape.dim;
    p.value_dim = shape.value_dim;
    p.type = type;
    p.mask = work::parse_mask(mask, shape.queries, shape.keys);
    work::lay_out(p, layout);
    return p;
}

// Of as many queries as keys in each entry, back to back.
inline work::Attention ragged(const AttentionShape& shape, const std::vector<std::int64_t>& lengths,
                              std::string_view mask = "causal",
                              work::AttentionLayout layout = work::AttentionLayout::bshd) {
    auto p = attention(shape, mask, layout);
    p.batch = static_cast<std::int64_t>(lengths.size());
    p.query_lengths = p.key_lengths = lengths;
    work::lay_out(p, layout);
    return p;
}

}  // namespace assay::cuda
