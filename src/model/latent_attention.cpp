#include "model/latent_attention.h"

namespace assay::model {
namespace {

void add_queries(Tensors& tensors, const LatentShape& s) {
    const auto width = s.heads * (s.plain + s.rotary);
    if (!s.query_rank) {
        tensors.by_output("q_proj", width, s.hidden, s.heads);
        return;
    }
    tensors.whole("q_a_proj", *s.query_rank, s.hidden, s.bias);
    tensors.norm("q_a_layernorm", *s.query_rank);
    tensors.by_output("q_b_proj", width, *s.query_rank, s.heads);
}

// Whole on every rank: each scores all entries, to know which to read.
void add_indexer(Layer& layer, Tensors tensors, const LatentShape& s) {
    const auto& indexer = *s.indexer;
    tensors.whole("wq_b", indexer.heads * indexer.dim, s.query_rank.value_or(s.hidden));
    tensors.whole("wk", indexer.dim, s.hidden);
    tensors.norm("k_norm", indexer.dim, true);
    tensors.whole("weights_proj", indexer.heads, s.hidden);
    tensors.last().keeps_type = true;
    layer.mixer.top_k = indexer.top_k;
    layer.mixer.index_heads = indexer.heads;
    layer.mixer.index_dim = indexer.dim;
    layer.mixer.cache.push_back({.what = "indexer key", .elements = indexer.dim});
}

}  // namespace

std::optional<Indexer> read_indexer(const Keys& keys) {
    if (!keys.has({"index_topk", "index_n_heads"})) return std::nullopt;
    return Indexer{keys.integer({"index_n_heads"}, {1, 1 << 14}),
                   keys.integer({"index_head_dim"}, {1, 1 << 14}),
                   keys.integer({"index_topk"}, kTokens)};
}

LatentShape read_latent_shape(const Keys& keys, std::int64_t hidden) {
    constexpr Bounds kHead{1, 1 << 14};
    return {.hidden = hidden,
            .heads = keys.integer({"num_attention_heads", "n_head", "n_heads"}, kHead),
            .query_rank = keys.optional_integer({"q_lora_rank"}),
            .latent = keys.integer({"kv_lora_rank"}),
            .plain = keys.integer({"qk_nope_head_dim"}, kHead),
            .rotary = keys.integer({"qk_rope_head_dim"}, {0, 1 << 14}),
            .value_dim = keys.integer({"v_head_dim"}, kHead),
            .bias = keys.flag_or({"attention_bias"}, false),
            .output_gate = keys.flag_or({"mla_use_output_gate"}, false),
            .indexer = read_indexer(keys)};
}

void add_latent_attention(Layer& layer, Tensors tensors, const LatentShape& s) {
    auto& mixer = layer.mixer;
    mixer.kind = Mixer::Kind::latent;
    mixer.heads = s.heads;
    mixer.kv_heads = s.heads;
    mixer.key_dim = s.plain + s.rotary;
    mixer.value_dim = s.value_dim;
    mixer.cache.push_back({.what = "latent", .elements = s.latent + s.rotary, .rotary = s.rotary});

    add_queries(tensors, s);
    tensors.whole("kv_a_proj_with_mqa", s.latent + s.rotary, s.hidden, s.bias);
    tensors.norm("kv_a_layernorm", s.latent);
    tensors.by_output("kv_b_proj", s.heads * (s.plain + s.value_dim), s.latent, s.heads);
    tensors.by_input("o_proj", s.hidden, s.heads * s.value_dim, s.heads, s.bias);
    if (s.output_gate) {
        tensors.by_output("g_proj", s.heads * s.value_dim, s.hidden, s.heads);
    }
    if (s.indexer) add_indexer(layer, tensors.within("indexer."), s);
}

}  // namespace assay::model
