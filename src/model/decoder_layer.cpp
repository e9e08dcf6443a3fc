#include "model/compressed_attention.h"
#include "model/decoder.h"
#include "model/dense.h"
#include "model/latent_attention.h"
#include "model/linear_attention.h"

namespace assay::model {
namespace {

constexpr Bounds kHead{1, 1 << 14};

std::int64_t default_head_dim(const Keys& keys, std::int64_t hidden, std::int64_t heads) {
    if (hidden % heads != 0) {
        keys.fail("num_attention_heads",
                  "doesn't divide the hidden size, and \"head_dim\" is missing");
    }
    return hidden / heads;
}

// Models that mix windowed and full layers may shape them differently: swa_* for those with a
// window (MiMo-V2), global_* for those without (Gemma 4).
void set_heads(const Keys& keys, const LayerPlan& plan, std::int64_t hidden, AttentionShape& s) {
    s.heads = keys.integer({"num_attention_heads", "n_head", "n_heads", "num_heads"}, kHead);
    // Falcon's first models have one key head whatever the number beside says.
    const bool newer = keys.flag_or({"new_decoder_architecture"}, false);
    const bool single = !newer && keys.flag_or({"multi_query"}, false);
    s.kv_heads = single ? 1
                        : keys.integer_or({"num_key_value_heads", "num_kv_heads", "n_head_kv"},
                                          s.heads, kHead);
    const auto dim =
        keys.optional_integer({"head_dim", "attention_head_dim", "kv_channels"}, kHead);
    s.key_dim = dim ? *dim : default_head_dim(keys, hidden, s.heads);
    if (plan.window) {
        s.heads = keys.integer_or({"swa_num_attention_heads"}, s.heads, kHead);
        s.kv_heads = keys.integer_or({"swa_num_key_value_heads"}, s.kv_heads, kHead);
        s.key_dim = keys.integer_or({"swa_head_dim"}, s.key_dim, kHead);
        s.value_dim = keys.integer_or({"swa_v_head_dim", "v_head_dim"}, s.key_dim, kHead);
    } else {
        s.kv_heads = keys.integer_or({"num_global_key_value_heads"}, s.kv_heads, kHead);
        s.key_dim = keys.integer_or({"global_head_dim"}, s.key_dim, kHead);
        s.value_dim = keys.integer_or({"v_head_dim"}, s.key_dim, kHead);
    }
    s.heads = plan.heads.value_or(s.heads);
    s.kv_heads = plan.kv_heads.value_or(s.kv_heads);
    if (s.heads % s.kv_heads != 0) keys.fail("num_key_value_heads", "doesn't divide the heads");
}

AttentionShape attention_shape(const Decoder& d, const LayerPlan& plan) {
    const auto& traits = d.traits;
    AttentionShape s{.hidden = d.hidden};
    set_heads(d.keys, plan, d.hidden, s);
    s.qkv_bias =
        d.keys.flag_or({"attention_bias", "use_qkv_bias", "qkv_bias", "use_bias", "bias"}, false);
    s.output_bias =
        d.keys.flag_or({"attention_out_bias"}, s.qkv_bias && traits.bias == Traits::Bias::all);
    const bool normed = traits.query_key_norm != AttentionShape::Norm::none;
    if (d.keys.flag_or({"use_qk_norm"}, normed)) s.norm = traits.query_key_norm;
    s.sinks = traits.sinks;
    s.sinks_used = plan.window ? d.keys.flag_or({"add_swa_attention_sink_bias"}, true)
                               : d.keys.flag_or({"add_full_attention_sink_bias"}, true);
    s.no_keys = plan.shares_keys;
    s.output_gate = d.keys.flag_or({"attn_output_gate"}, traits.output_gate);
    s.key_is_value = !plan.window && d.keys.flag_or({"attention_k_eq_v"}, false);
    s.window = plan.window;
    return s;
}

void add_mixer(const Decoder& d, const LayerPlan& plan, const std::string& prefix, Layer& layer) {
    const auto at = [&](const char* name) {
        return Tensors(layer.tensors, prefix + name, Part::attention);
    };
    switch (plan.mixer) {
        case LayerPlan::Mixer::none:
            break;
        case LayerPlan::Mixer::kimi_delta:
            add_kimi_delta_attention(layer, at("self_attn."), d.keys.table("linear_attn_config"),
                                     d.hidden);
            break;
        case LayerPlan::Mixer::gated_delta:
            add_gated_delta_net(layer, at("linear_attn."), d.keys, d.hidden);
            break;
        case LayerPlan::Mixer::mamba:
            add_mamba(layer, at("mixer."), d.keys, d.hidden);
            break;
        case LayerPlan::Mixer::attention:
            if (plan.ratio) {
                add_compressed_attention(layer, at("attn."), d.keys, d.hidden, *plan.ratio);
            } else if (d.keys.has({"kv_lora_rank"})) {
                add_latent_attention(layer, at("self_attn."), read_latent_shape(d.keys, d.hidden));
            } else {
                add_attention(layer, at("self_attn."), attention_shape(d, plan));
            }
            break;
    }
}

DenseShape dense_shape(const Decoder& d, const LayerPlan& plan) {
    const auto width =
        plan.width ? *plan.width
                   : d.keys.integer_or({"intermediate_size_mlp", "intermediate_size", "n_inner",
                                        "ffn_dim", "ffn_hidden_size", "inner_hidden_size"},
                                       4 * d.hidden);
    // Gemma 4's layers without keys of their own may be twice as wide.
    const bool wide = plan.shares_keys && d.keys.flag_or({"use_double_wide_mlp"}, false);
    return {.hidden = d.hidden,
            .width = wide ? 2 * width : width,
            .gated = d.traits.gated,
            .bias = d.keys.flag_or({"mlp_bias", "use_bias", "bias"}, false)};
}

void add_feed_forward(const Decoder& d, const LayerPlan& plan, const std::string& prefix,
                      Layer& layer) {
    const Tensors dense(layer.tensors, prefix + "mlp.", Part::dense);
    if (plan.feed_forward == LayerPlan::FeedForward::none) return;
    if (plan.feed_forward == LayerPlan::FeedForward::dense) {
        add_dense(layer, dense, dense_shape(d, plan));
        return;
    }
    auto shape = read_experts_shape(d.keys, d.hidden, d.traits.gated, d.traits.experts);
    shape.hashed = plan.hashed;
    add_experts(layer, {layer.tensors, prefix + d.traits.feed_forward + ".", Part::experts}, shape);
    if (d.traits.norms == Traits::Norms::around_parallel) {
        add_dense_tensors(dense, dense_shape(d, plan));
    }
}

void add_norms(const Decoder& d, const LayerPlan& plan, const std::string& prefix, Layer& layer) {
    using Norms = Traits::Norms;
    Tensors tensors(layer.tensors, prefix, Part::norms);
    const auto norm = [&](const char* name) { tensors.norm(name, d.hidden, d.traits.norm_bias); };
    const bool mixes = plan.mixer != LayerPlan::Mixer::none;
    const bool feeds = plan.feed_forward != LayerPlan::FeedForward::none;
    const bool around = d.traits.norms == Norms::around || d.traits.norms == Norms::around_parallel;
    if (mixes) norm("input_layernorm");
    if (mixes && around) norm("post_attention_layernorm");
    // Falcon's first models share one norm between parts that run in parallel.
    const bool shared =
        d.traits.norms == Norms::shared || (d.keys.flag_or({"parallel_attn"}, false) &&
                                            !d.keys.flag_or({"new_decoder_architecture"}, false));
    if (!feeds || shared) return;
    norm(around ? "pre_feedforward_layernorm" : "post_attention_layernorm");
    if (around) norm("post_feedforward_layernorm");
    if (d.traits.norms == Norms::around_parallel &&
        plan.feed_forward == LayerPlan::FeedForward::experts) {
        norm("post_feedforward_layernorm_1");
        norm("pre_feedforward_layernorm_2");
        norm("post_feedforward_layernorm_2");
    }
}

// Gemma's embedding of its own for every layer, gated by the hidden state and added to it.
void add_layer_input(const Decoder& d, const std::string& prefix, Layer& layer) {
    const auto width = d.keys.integer_or({"hidden_size_per_layer_input"}, 0, kCount);
    if (width == 0) return;
    Tensors tensors(layer.tensors, prefix, Part::dense);
    tensors.whole("per_layer_input_gate", width, d.hidden);
    tensors.whole("per_layer_projection", d.hidden, width);
    tensors.norm("post_per_layer_input_norm", d.hidden);
}

// What stands before each of the two parts beside their norms.
void add_residuals(const Decoder& d, const std::string& prefix, Layer& layer) {
    for (const auto* part : {"attn", "mlp"}) {
        Tensors tensors(layer.tensors, prefix + part + "_res_", Part::norms);
        if (d.keys.has({"attn_res_block_size"})) {
            tensors.norm("norm", d.hidden);
            tensors.vector("query", d.hidden);
        }
        if (const auto streams = d.keys.optional_integer({"hc_mult"}, {1, 64})) {
            add_hyper_connection(tensors.within("hc_"), d.hidden, *streams);
        }
    }
}

}  // namespace

Layer make_layer(const Decoder& decoder, const LayerPlan& plan, const std::string& prefix) {
    Layer layer;
    add_mixer(decoder, plan, prefix, layer);
    add_feed_forward(decoder, plan, prefix, layer);
    add_norms(decoder, plan, prefix, layer);
    add_layer_input(decoder, prefix, layer);
    add_residuals(decoder, prefix, layer);
    return layer;
}

}  // namespace assay::model
