#include <algorithm>

#include "model/family.h"

namespace assay::model {
namespace {

using Norm = AttentionShape::Norm;
using Norms = Traits::Norms;
using Bias = Traits::Bias;
using Predictor = Traits::Predictor;

constexpr auto kTied = R"({"tie_word_embeddings": true})";

// GPT-2's kind: LayerNorm and every product with a bias, no gate.
Traits plain_traits() {
    return {.norm_bias = true, .gated = false};
}

std::vector<Family> make_families() {
    std::vector<Family> all;
    // Llama's kind: the config says all.
    all.push_back(
        {{"llama", "mistral", "ministral", "mistral3", "pixtral", "ministral3", "yi", "phi3",
          "granite", "internlm3", "exaone", "aquila", "xverse", "baichuan", "llava", "solar"},
         {},
         "{}",
         {}});
    all.push_back(
        {{"smollm3"}, {}, R"({"tie_word_embeddings": true, "use_sliding_window": false})", {}});
    all.push_back(
        {{"seed_oss"}, {}, R"({"attention_bias": true, "attention_out_bias": false})", {}});
    all.push_back({{"arcee"}, {.gated = false}, "{}", {}});
    all.push_back({{"mixtral"}, {.feed_forward = "block_sparse_moe"}, "{}", {}});
    all.push_back({{"phimoe"},
                   {.norm_bias = true, .head_bias = true, .feed_forward = "block_sparse_moe"},
                   "{}",
                   {}});
    all.push_back({{"qwen2", "qwen2_vl", "qwen2_5_vl", "qwen2_vl_text", "qwen2_5_vl_text"},
                   {.bias = Bias::qkv},
                   R"({"attention_bias": true, "use_sliding_window": false})",
                   {}});
    all.push_back({{"qwen2_moe"},
                   {.bias = Bias::qkv, .experts = {.shared_gate = true, .shared = "shared_expert"}},
                   R"({"attention_bias": true, "use_sliding_window": false})",
                   {}});
    all.push_back(
        {{"qwen3", "qwen3_moe", "qwen3_vl", "qwen3_vl_text", "qwen3_vl_moe", "qwen3_vl_moe_text"},
         {.query_key_norm = Norm::head},
         R"({"use_sliding_window": false})",
         {}});
    const Traits gated_delta{.query_key_norm = Norm::head,
                             .output_gate = true,
                             .predictor = Predictor::joint,
                             .experts = {.shared_gate = true, .shared = "shared_expert"}};
    all.push_back({{"qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"},
                   gated_delta,
                   R"({"full_attention_interval": 4})",
                   {}});
    all.push_back({{"qwen3_next"},
                   gated_delta,
                   R"({"full_attention_interval": 4})",
                   {"multi-token-prediction layers: the checkpoint has 1"}});
    all.push_back({{"olmo2", "olmoe"}, {.query_key_norm = Norm::width}, "{}", {}});
    all.push_back(
        {{"olmo3"}, {.query_key_norm = Norm::width}, R"({"sliding_window_pattern": 4})", {}});

    // Gemma.
    all.push_back({{"gemma"}, {}, kTied, {}});
    all.push_back({{"gemma2"},
                   {.norms = Norms::around},
                   R"({"tie_word_embeddings": true, "sliding_window_pattern": 2})",
                   {}});
    all.push_back({{"gemma3", "gemma3_text"},
                   {.query_key_norm = Norm::head, .norms = Norms::around},
                   R"({"tie_word_embeddings": true, "sliding_window_pattern": 6,
                       "vocab_size": 262208, "head_dim": 256, "num_attention_heads": 8,
                       "num_key_value_heads": 4, "max_position_embeddings": 131072})",
                   {}});
    all.push_back({{"gemma4", "gemma4_text"},
                   {.query_key_norm = Norm::head,
                    .norms = Norms::around_parallel,
                    .experts = {.scales = true}},
                   kTied,
                   {}});

    // LayerNorms and biases.
    auto gpt2 = plain_traits();
    gpt2.learned_positions = 0;
    gpt2.layers = "transformer.h";
    all.push_back({{"gpt2"},
                   gpt2,
                   R"({"tie_word_embeddings": true, "attention_bias": true, "mlp_bias": true})",
                   {}});
    auto gpt_j = plain_traits();
    gpt_j.norms = Norms::shared;
    gpt_j.head_bias = true;
    gpt_j.layers = "transformer.h";
    all.push_back({{"gptj"}, gpt_j, R"({"attention_bias": false, "mlp_bias": true})", {}});
    auto bloom = plain_traits();
    bloom.embedding_norm = true;
    bloom.layers = "transformer.h";
    all.push_back({{"bloom"},
                   bloom,
                   R"({"tie_word_embeddings": true, "attention_bias": true, "mlp_bias": true})",
                   {}});
    auto neox = plain_traits();
    neox.layers = "gpt_neox.layers";
    all.push_back({{"gpt_neox"}, neox, R"({"attention_bias": true, "mlp_bias": true})", {}});
    auto opt = plain_traits();
    opt.learned_positions = 2;
    opt.layers = "model.decoder.layers";
    all.push_back({{"opt"},
                   opt,
                   R"({"tie_word_embeddings": true, "attention_bias": true, "mlp_bias": true})",
                   {}});
    auto phi = plain_traits();
    phi.norms = Norms::shared;
    phi.head_bias = true;
    all.push_back({{"phi"}, phi, R"({"attention_bias": true, "mlp_bias": true})", {}});
    all.push_back(
        {{"starcoder2"}, plain_traits(), R"({"tie_word_embeddings": true, "use_bias": true})", {}});
    all.push_back({{"nemotron"}, plain_traits(), "{}", {}});
    auto falcon = plain_traits();
    falcon.layers = "transformer.h";
    all.push_back({{"falcon"}, falcon, R"({"tie_word_embeddings": true, "bias": false})", {}});
    // A norm of its own for each head, so many weights as one over all heads.
    all.push_back({{"cohere"},
                   {.query_key_norm = Norm::width, .norms = Norms::shared},
                   R"({"tie_word_embeddings": true, "use_qk_norm": false})",
                   {}});
    all.push_back({{"cohere2"},
                   {.norms = Norms::shared},
                   R"({"tie_word_embeddings": true, "sliding_window_pattern": 4})",
                   {}});
    all.push_back({{"glm4"}, {.bias = Bias::qkv, .norms = Norms::around}, "{}", {}});

    // Mixtures of experts, latent attention.
    all.push_back({{"deepseek_v2", "deepseek_vl_v2"}, {}, "{}", {}});
    all.push_back({{"deepseek_v3", "deepseek_v32", "kimi_k2", "kimi_k25"},
                   {.predictor = Predictor::joint,
                    .predictor_copies = true,
                    .experts = {.selection_bias = true}},
                   "{}",
                   {}});
    Traits glm{.bias = Bias::qkv,
               .query_key_norm = Norm::head,
               .predictor = Predictor::joint,
               .experts = {.selection_bias = true}};
    all.push_back({{"glm_moe_dsa"}, glm, R"({"use_qk_norm": false})", {}});
    glm.predictor_copies = true;
    all.push_back({{"glm4_moe", "glm4_moe_lite"}, glm, R"({"use_qk_norm": false})", {}});
    all.push_back(
        {{"dots1"}, {.query_key_norm = Norm::head, .experts = {.selection_bias = true}}, "{}", {}});
    all.push_back({{"deepseek_v4"},
                   {.predictor = Predictor::separate,
                    .layers = "layers",
                    .feed_forward = "ffn",
                    .experts = {.selection_bias = true}},
                   "{}",
                   {}});
    all.push_back({{"kimi_linear", "kimi_k3"},
                   {.feed_forward = "block_sparse_moe", .experts = {.selection_bias = true}},
                   "{}",
                   {}});
    all.push_back({{"gpt_oss"},
                   {.sinks = true, .experts = {.bias = true, .router_bias = true}},
                   R"({"attention_bias": true})",
                   {}});
    all.push_back({{"minimax_m2"},
                   {.query_key_norm = Norm::width,
                    .predictor = Predictor::unpublished,
                    .feed_forward = "block_sparse_moe",
                    .experts = {.selection_bias = true}},
                   "{}",
                   {}});
    all.push_back({{"llama4", "llama4_text"},
                   {.feed_forward = "feed_forward", .experts = {.shared = "shared_expert"}},
                   R"({"no_rope_layer_interval": 4, "n_shared_experts": 1, "use_qk_norm": false})",
                   {}});
    all.push_back({{"mimo_v2_flash"},
                   {.sinks = true, .experts = {.selection_bias = true}},
                   "{}",
                   {"multi-token-prediction layers: the checkpoint has 3"}});

    // Hybrids.
    all.push_back({{"nemotron_h"},
                   {.gated = false,
                    .predictor = Predictor::joint,
                    .layers = "backbone.layers",
                    .feed_forward = "mixer",
                    .experts = {.selection_bias = true}},
                   "{}",
                   {}});
    all.push_back({{"nemotron-nas", "deci"}, {}, "{}", {}});
    return all;
}

const std::vector<Family>& families() {
    static const auto kFamilies = make_families();
    return kFamilies;
}

}  // namespace

const Family* find_family(std::string_view model_type) {
    for (const auto& family : families()) {
        if (std::ranges::find(family.types, model_type) != family.types.end()) return &family;
    }
    return nullptr;
}

const Family& generic_family() {
    return families().front();
}

std::vector<std::string> family_types() {
    std::vector<std::string> types;
    for (const auto& family : families()) {
        types.insert(types.end(), family.types.begin(), family.types.end());
    }
    return types;
}

}  // namespace assay::model
