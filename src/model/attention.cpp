#include "model/attention.h"

namespace assay::model {
namespace {

void add_norms(Tensors& tensors, const AttentionShape& shape) {
    using Norm = AttentionShape::Norm;
    if (shape.norm == Norm::none) return;
    const bool width = shape.norm == Norm::width;
    tensors.norm("q_norm", shape.key_dim * (width ? shape.heads : 1), shape.norm_bias);
    if (shape.no_keys) return;
    tensors.norm("k_norm", shape.key_dim * (width ? shape.kv_heads : 1), shape.norm_bias);
}

}  // namespace

void add_attention(Layer& layer, Tensors tensors, const AttentionShape& s) {
    const auto outputs = s.heads * s.value_dim;
    tensors.by_output("q_proj", s.heads * s.key_dim + (s.output_gate ? outputs : 0), s.hidden,
                      s.heads, s.qkv_bias);
    if (!s.no_keys) {
        tensors.by_output("k_proj", s.kv_heads * s.key_dim, s.hidden, s.kv_heads, s.qkv_bias);
        if (!s.key_is_value) {
            tensors.by_output("v_proj", s.kv_heads * s.value_dim, s.hidden, s.kv_heads, s.qkv_bias);
        }
    }
    tensors.by_input("o_proj", s.hidden, outputs, s.heads, s.output_bias);
    add_norms(tensors, s);
    if (s.sinks) {
        tensors.vector("sinks", s.heads, s.heads);
        if (!s.sinks_used) tensors.last().used = 0;
    }

    auto& mixer = layer.mixer;
    mixer.kind = Mixer::Kind::attention;
    mixer.heads = s.heads;
    mixer.kv_heads = s.kv_heads;
    mixer.key_dim = s.key_dim;
    mixer.value_dim = s.value_dim;
    mixer.window = s.window;
    if (s.no_keys) return;
    mixer.cache.push_back({.what = "key and value",
                           .elements = s.kv_heads * (s.key_dim + s.value_dim),
                           .heads = s.kv_heads,
                           .window = s.window});
}

}  // namespace assay::model
