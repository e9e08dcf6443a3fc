// Small attention on the fake device.
#pragma once

#include <string>

#include "probes/attention_problem.h"

namespace assay::probes {

// 4 heads of 2 keys and values, 12 tokens, dim 4, fp32, hot.
inline AttentionCase small_attention(const std::string& mask = "full",
                                     work::AttentionPass pass = work::AttentionPass::forward) {
    AttentionCase attention;
    auto& p = attention.problem;
    p.heads = 4;
    p.kv_heads = 2;
    p.queries = p.keys = 12;
    p.dim = p.value_dim = 4;
    p.type = work::Type::fp32;
    p.mask = work::parse_mask(mask, 12, 12);
    attention.pass = pass;
    attention.cache = CacheState::hot;
    work::lay_out(p, attention.layout);
    return attention;
}

}  // namespace assay::probes
