// Models that aren't shipped, a kind each: the reduced config of a published checkpoint, and
// safetensors.total of its Hugging Face repository.
#include <gmock/gmock.h>

#include "model/config.h"
#include "model/counts.h"

namespace assay::model {
namespace {

struct Row {
    const char* name;
    const char* config;
    std::int64_t parameters;  // with what the config declares beside the language model
};

const Row kRows[]{
    {"Qwen2.5-7B: biases of queries, keys and values", R"({"model_type": "qwen2",
        "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
        "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064,
        "sliding_window": 131072})",
     7'615'616'512},
    {"Llama-3.2-1B: a tied head", R"({"model_type": "llama", "hidden_size": 2048,
        "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8,
        "head_dim": 64, "intermediate_size": 8192, "vocab_size": 128256,
        "tie_word_embeddings": true})",
     1'235'814'400},
    {"Gemma-2-9B: norms around both parts", R"({"model_type": "gemma2", "hidden_size": 3584,
        "num_hidden_layers": 42, "num_attention_heads": 16, "num_key_value_heads": 8,
        "head_dim": 256, "intermediate_size": 14336, "vocab_size": 256000,
        "sliding_window": 4096})",
     9'241'705'984},
    {"Gemma-3-4B: keys left to its class, and a vision tower", R"({"model_type": "gemma3",
        "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
        "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024},
        "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152,
        "intermediate_size": 4304, "num_hidden_layers": 27, "image_size": 896,
        "patch_size": 14}})",
     4'300'079'472},
    {"phi-2: one norm, a bias everywhere", R"({"model_type": "phi", "hidden_size": 2560,
        "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 10240,
        "vocab_size": 51200})",
     2'779'683'840},
    {"Phi-3.5-MoE: experts, LayerNorms, biases of attention and head",
     R"({"model_type": "phimoe", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 6400,
        "num_local_experts": 16, "num_experts_per_tok": 2, "vocab_size": 32064,
        "attention_bias": true})",
     41'873'153'344},
    {"Pythia-6.9B", R"({"model_type": "gpt_neox", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "intermediate_size": 16384, "vocab_size": 50432})",
     6'857'302'016},
    {"OPT-6.7B: two more positions than the context", R"({"model_type": "opt",
        "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "ffn_dim": 16384, "vocab_size": 50272, "max_position_embeddings": 2048})",
     6'658'473'984},
    {"Falcon-7B: one key head, one norm", R"({"model_type": "falcon", "hidden_size": 4544,
        "num_hidden_layers": 32, "num_attention_heads": 71, "num_kv_heads": 71,
        "multi_query": true, "parallel_attn": true, "new_decoder_architecture": false,
        "bias": false, "vocab_size": 65024})",
     6'921'720'704},
    {"Falcon-40B: eight, and two", R"({"model_type": "falcon", "hidden_size": 8192,
        "num_hidden_layers": 60, "num_attention_heads": 128, "num_kv_heads": 8,
        "multi_query": true, "parallel_attn": true, "new_decoder_architecture": true,
        "bias": false, "vocab_size": 65024})",
     41'303'293'952},
    {"StarCoder2-15B", R"({"model_type": "starcoder2", "hidden_size": 6144,
        "num_hidden_layers": 40, "num_attention_heads": 48, "num_key_value_heads": 4,
        "intermediate_size": 24576, "vocab_size": 49152, "use_bias": true,
        "tie_word_embeddings": false})",
     15'957'889'024},
    {"Command R", R"({"model_type": "cohere", "hidden_size": 8192, "num_hidden_layers": 40,
        "num_attention_heads": 64, "num_key_value_heads": 64, "intermediate_size": 22528,
        "vocab_size": 256000})",
     34'980'831'232},
    {"OLMo-2-7B: norms of queries and keys of all heads at once", R"({"model_type": "olmo2",
        "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "intermediate_size": 11008, "vocab_size": 100352})",
     7'298'617'344},
    {"OLMoE-1B-7B", R"({"model_type": "olmoe", "hidden_size": 2048, "num_hidden_layers": 16,
        "num_attention_heads": 16, "intermediate_size": 1024, "num_experts": 64,
        "num_experts_per_tok": 8, "vocab_size": 50304})",
     6'919'161'856},
    {"GLM-4-9B", R"({"model_type": "glm4", "hidden_size": 4096, "num_hidden_layers": 40,
        "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
        "attention_bias": true, "intermediate_size": 13696, "vocab_size": 151552})",
     9'400'279'040},
    {"GLM-4.5: embedding and head stored again", R"({"model_type": "glm4_moe",
        "hidden_size": 5120, "num_hidden_layers": 92, "num_attention_heads": 96,
        "num_key_value_heads": 8, "head_dim": 128, "attention_bias": true, "use_qk_norm": true,
        "intermediate_size": 12288, "moe_intermediate_size": 1536, "n_routed_experts": 160,
        "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
        "num_nextn_predict_layers": 1, "vocab_size": 151552})",
     358'337'791'296},
    {"GLM-4.7-Flash: that with latent attention", R"({"model_type": "glm4_moe_lite",
        "hidden_size": 2048, "num_hidden_layers": 47, "num_attention_heads": 20,
        "intermediate_size": 10240, "vocab_size": 154880, "n_routed_experts": 64,
        "n_shared_experts": 1, "num_experts_per_tok": 4, "moe_intermediate_size": 1536,
        "first_k_dense_replace": 1, "kv_lora_rank": 512, "q_lora_rank": 768,
        "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256,
        "num_nextn_predict_layers": 1})",
     31'221'488'576},
    {"DeepSeek-V2-Lite: latent attention with plain queries", R"({"model_type": "deepseek_v2",
        "hidden_size": 2048, "num_hidden_layers": 27, "num_attention_heads": 16,
        "intermediate_size": 10944, "moe_intermediate_size": 1408, "n_routed_experts": 64,
        "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
        "kv_lora_rank": 512, "q_lora_rank": null, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 102400})",
     15'706'484'224},
    {"Qwen1.5-MoE-A2.7B: a gated shared expert of its own width", R"({"model_type": "qwen2_moe",
        "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16,
        "intermediate_size": 5632, "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632, "num_experts": 60, "num_experts_per_tok": 4,
        "vocab_size": 151936})",
     14'315'784'192},
    {"Kimi-Linear-48B: gates through a bottleneck", R"({"model_type": "kimi_linear",
        "hidden_size": 2304, "num_hidden_layers": 27, "num_attention_heads": 32,
        "intermediate_size": 9216, "moe_intermediate_size": 1024, "num_experts": 256,
        "num_experts_per_token": 8, "num_shared_experts": 1, "first_k_dense_replace": 1,
        "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "vocab_size": 163840, "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
        "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26],
        "head_dim": 128, "num_heads": 32, "short_conv_kernel_size": 4}})",
     49'122'681'728},
    {"Qwen3.5-397B-A17B", R"({"model_type": "qwen3_5_moe", "text_config": {
        "model_type": "qwen3_5_moe_text", "hidden_size": 4096, "head_dim": 256,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
        "linear_num_value_heads": 64, "linear_value_head_dim": 128,
        "moe_intermediate_size": 1024, "mtp_num_hidden_layers": 1, "num_attention_heads": 32,
        "num_experts": 512, "num_experts_per_tok": 10, "num_hidden_layers": 60,
        "num_key_value_heads": 2, "shared_expert_intermediate_size": 1024,
        "vocab_size": 248320}, "vision_config": {"depth": 27, "hidden_size": 1152,
        "intermediate_size": 4304, "num_position_embeddings": 2304, "out_hidden_size": 4096,
        "patch_size": 16}})",
     403'397'928'944},
    {"Llama-4-Scout: a vision tower", R"({"model_type": "llama4", "text_config": {
        "model_type": "llama4_text", "attention_chunk_size": 8192, "head_dim": 128,
        "hidden_size": 5120, "interleave_moe_layer_step": 1, "intermediate_size": 8192,
        "intermediate_size_mlp": 16384, "num_attention_heads": 40, "num_experts_per_tok": 1,
        "num_hidden_layers": 48, "num_key_value_heads": 8, "num_local_experts": 16,
        "use_qk_norm": true, "vocab_size": 202048}, "vision_config": {
        "model_type": "llama4_vision_model", "hidden_size": 1408, "image_size": 336,
        "intermediate_size": 5632, "num_hidden_layers": 34, "patch_size": 14,
        "projector_input_dim": 4096, "projector_output_dim": 4096, "vision_output_dim": 4096}})",
     108'641'793'536},
};

TEST(Kinds, HaveThePublishedParameters) {
    for (const auto& row : kRows) {
        EXPECT_EQ(count(read_config(row.config, row.name).shape).everything(), row.parameters)
            << row.name;
    }
}

}  // namespace
}  // namespace assay::model
