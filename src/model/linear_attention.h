// Attention with a state of fixed size in place of a cache: each token decays it, writes its key
// and value by the delta rule, and reads it with its query.
#pragma once

#include <cstdint>

#include "model/config_keys.h"
#include "model/tensors.h"

namespace assay::model {

// Kimi delta attention (arXiv 2510.26692): decay by channel. From linear_attn_config.
void add_kimi_delta_attention(Layer& layer, Tensors tensors, const Keys& linear,
                              std::int64_t hidden);

// Gated delta net (arXiv 2412.06464), as in Qwen3-Next and Qwen3.5: decay by head, fewer key heads
// than value heads. From linear_num_key_heads and its kin.
void add_gated_delta_net(Layer& layer, Tensors tensors, const Keys& keys, std::int64_t hidden);

// Mamba-2 (arXiv 2405.21060): `groups` pairs of input and output vectors shared by the heads.
void add_mamba(Layer& layer, Tensors tensors, const Keys& keys, std::int64_t hidden);

}  // namespace assay::model
