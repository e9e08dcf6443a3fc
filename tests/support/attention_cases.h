// Small problems of attention that together try every pair of what problems differ in
// (attention_pairs.h), few enough to compute by the oracle.
#pragma once

#include <cstdint>
#include <vector>

#include "work/attention.h"

namespace assay::work {

struct PairCase {
    const char* mask;
    const char* modifier;
    std::int64_t heads, kv_heads, queries, keys, dim, value_dim;
    AttentionLayout layout;
    Type type;

    Attention problem() const {
        Attention p{.heads = heads,
                    .kv_heads = kv_heads,
                    .queries = queries,
                    .keys = keys,
                    .dim = dim,
                    .value_dim = value_dim,
                    .type = type,
                    .mask = parse_mask(mask, queries, keys),
                    .modifier = parse_score_modifier(modifier)};
        lay_out(p, layout);
        return p;
    }
};

inline std::vector<PairCase> pair_cases() {
    constexpr auto kBhsd = AttentionLayout::bhsd;
    constexpr auto kBshd = AttentionLayout::bshd;
    constexpr auto kPacked = AttentionLayout::packed;
    return {
        {"blocks:32:0", "alibi", 2, 2, 20, 66, 7, 7, kBshd, Type::bf16},
        {"blocks:32:0", "bias", 4, 2, 21, 21, 24, 8, kPacked, Type::fp16},
        {"blocks:32:0", "none", 3, 1, 1, 1, 8, 20, kBhsd, Type::fp32},
        {"blocks:32:0/", "none", 2, 2, 64, 64, 16, 16, kBhsd, Type::fp32},
        {"blocks:32:0/0-2/", "none", 2, 2, 67, 67, 16, 16, kBhsd, Type::fp32},
        {"blocks:32:0/0/", "softcap:3", 2, 2, 66, 20, 16, 16, kBhsd, Type::fp32},
        {"causal", "alibi", 3, 1, 66, 20, 24, 8, kBhsd, Type::bf16},
        {"causal", "bias", 2, 2, 64, 64, 8, 20, kBhsd, Type::fp32},
        {"causal", "none", 2, 2, 20, 66, 16, 16, kBhsd, Type::fp32},
        {"causal", "none", 2, 2, 67, 67, 16, 16, kPacked, Type::fp16},
        {"causal", "softcap:3", 2, 2, 1, 1, 16, 16, kBhsd, Type::fp32},
        {"causal", "softcap:3", 4, 2, 21, 21, 7, 7, kBshd, Type::fp32},
        {"causal+document:even:3", "softcap:3", 3, 1, 64, 64, 16, 16, kBshd, Type::fp32},
        {"causal+document:skewed:3", "alibi", 4, 2, 67, 67, 8, 20, kPacked, Type::fp32},
        {"causal+prefix:1", "alibi", 4, 2, 1, 1, 8, 20, kBshd, Type::fp32},
        {"causal+prefix:7", "bias", 2, 2, 67, 67, 7, 7, kBhsd, Type::bf16},
        {"causal+prefix:7", "none", 2, 2, 21, 21, 16, 16, kBhsd, Type::fp32},
        {"causal+prefix:7", "none", 2, 2, 66, 20, 16, 16, kBhsd, Type::fp32},
        {"causal+prefix:7", "none", 3, 1, 20, 66, 16, 16, kBhsd, Type::fp16},
        {"causal+prefix:7", "softcap:3", 2, 2, 64, 64, 24, 8, kPacked, Type::fp16},
        {"causal+window:9", "alibi", 3, 1, 21, 21, 16, 16, kPacked, Type::fp16},
        {"causal+window:9", "alibi", 4, 2, 20, 66, 16, 16, kBhsd, Type::fp16},
        {"causal+window:9", "bias", 2, 2, 1, 1, 24, 8, kBshd, Type::fp32},
        {"causal+window:9", "none", 2, 2, 67, 67, 16, 16, kBhsd, Type::fp32},
        {"causal+window:9", "none", 4, 2, 64, 64, 8, 20, kBhsd, Type::bf16},
        {"causal+window:9", "softcap:3", 4, 2, 66, 20, 7, 7, kBhsd, Type::bf16},
        {"causal:bottom-right", "alibi", 2, 2, 21, 21, 7, 7, kBhsd, Type::fp32},
        {"causal:bottom-right", "bias", 4, 2, 1, 1, 16, 16, kPacked, Type::bf16},
        {"causal:bottom-right", "none", 2, 2, 64, 64, 16, 16, kBhsd, Type::fp32},
        {"causal:bottom-right", "none", 2, 2, 67, 67, 16, 16, kBhsd, Type::fp32},
        {"causal:bottom-right", "none", 4, 2, 66, 20, 24, 8, kBshd, Type::fp16},
        {"causal:bottom-right", "softcap:3", 3, 1, 20, 66, 8, 20, kBhsd, Type::fp32},
        {"document:1", "bias", 2, 2, 1, 1, 7, 7, kBhsd, Type::bf16},
        {"document:8/1/12", "none", 2, 2, 21, 21, 24, 8, kBhsd, Type::fp16},
        {"full", "alibi", 4, 2, 64, 64, 7, 7, kPacked, Type::bf16},
        {"full", "bias", 2, 2, 66, 20, 8, 20, kBhsd, Type::fp32},
        {"full", "bias", 3, 1, 67, 67, 8, 20, kBshd, Type::fp16},
        {"full", "none", 2, 2, 1, 1, 16, 16, kBhsd, Type::fp32},
        {"full", "none", 2, 2, 20, 66, 16, 16, kBhsd, Type::fp32},
        {"full", "none", 2, 2, 21, 21, 16, 16, kBhsd, Type::fp32},
        {"full", "softcap:3", 2, 2, 67, 67, 24, 8, kBhsd, Type::fp32},
        {"window:9", "alibi", 2, 2, 64, 64, 16, 16, kPacked, Type::fp32},
        {"window:9", "bias", 4, 2, 20, 66, 24, 8, kBshd, Type::fp32},
        {"window:9", "none", 2, 2, 66, 20, 8, 20, kBhsd, Type::fp32},
        {"window:9", "none", 2, 2, 67, 67, 16, 16, kBhsd, Type::fp32},
        {"window:9", "none", 3, 1, 1, 1, 7, 7, kBhsd, Type::fp16},
        {"window:9", "softcap:3", 2, 2, 21, 21, 8, 20, kBhsd, Type::bf16},
    };
}

}  // namespace assay::work
