// Transformers made by hand, in the shapes that layouts treat differently.
#pragma once

#include <cstdint>
#include <string>

#include "model/transformer.h"

namespace assay {

struct MadeDense {
    std::string name = "made";
    std::int64_t layers = 4, hidden = 512, heads = 8, kv_heads = 8, head_dim = 64, width = 2048;
    std::int64_t vocabulary = 1000;
    bool gated = true;
    bool tied = false;
    std::optional<std::int64_t> window = std::nullopt;
};
model::Transformer made_dense(const MadeDense& shape);

// Shapes of published models (facts of their config.json).
model::Transformer made_llama2_70b();
model::Transformer made_llama3_8b();
model::Transformer made_bloom_176b();

struct MadeLatent {
    std::string name = "made-latent";
    std::int64_t latent_layers = 2, linear_layers = 0, hidden = 512, heads = 8;
    std::int64_t experts = 16, top_k = 2, shared = 1, expert_hidden = 512, width = 256;
    std::int64_t vocabulary = 1000;
};
// Latent attention (rank 512 + 64 cached, 1536 of the queries) and linear layers, all with experts.
model::Transformer made_latent(const MadeLatent& shape);
// Kimi K3 to within 0.3 %: its first layer, which is dense, has experts here.
model::Transformer made_k3();

// Two bytes each, and 4.25 bits for routed experts: MXFP4.
double stored_bf16(const model::Tensor& tensor);
double stored_mxfp4_experts(const model::Tensor& tensor);

}  // namespace assay
