// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): keys and values of all heads are
// made from one cached latent vector. With an indexer (DeepSeek-V3.2's sparse attention) a query
// meets only the best-scored entries, and the indexer's one key a token is cached as well.
#pragma once

#include <cstdint>
#include <optional>

#include "model/config_keys.h"
#include "model/tensors.h"

namespace assay::model {

struct Indexer {
    std::int64_t heads = 0, dim = 0, top_k = 0;
};
// From index_n_heads, index_head_dim and index_topk; none without them.
std::optional<Indexer> read_indexer(const Keys& keys);

struct LatentShape {
    std::int64_t hidden = 0, heads = 0;
    std::optional<std::int64_t> query_rank = {};  // none: queries straight from the hidden state
    std::int64_t latent = 0;                      // kv_lora_rank
    std::int64_t plain = 0, rotary = 0;           // qk_nope_head_dim, qk_rope_head_dim
    std::int64_t value_dim = 0;
    bool bias = false;
    bool output_gate = false;
    std::optional<Indexer> indexer = {};
};
LatentShape read_latent_shape(const Keys& keys, std::int64_t hidden);

void add_latent_attention(Layer& layer, Tensors tensors, const LatentShape& shape);

}  // namespace assay::model
