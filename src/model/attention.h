// Softmax attention over keys and values of their own: MHA, GQA, MQA, with or without a window.
#pragma once

#include <cstdint>
#include <optional>

#include "model/tensors.h"

namespace assay::model {

struct AttentionShape {
    enum class Norm {
        none,
        head,
        width
    };  // of queries and keys: a head's, or of all heads at once

    std::int64_t hidden = 0;
    std::int64_t heads = 0, kv_heads = 0;
    std::int64_t key_dim = 0, value_dim = 0;
    bool qkv_bias = false, output_bias = false;
    Norm norm = Norm::none;
    bool norm_bias = false;
    // One logit a head that takes weight and gives nothing; a checkpoint may hold some that its
    // layer doesn't use.
    bool sinks = false, sinks_used = true;
    bool output_gate = false;   // as wide as the heads' outputs, made by the query projection
    bool key_is_value = false;  // no projection for values: they are the keys
    bool no_keys = false;       // another layer's keys and values are used
    std::optional<std::int64_t> window = {};
};

// Sets the layer's mixer and adds its tensors.
void add_attention(Layer& layer, Tensors tensors, const AttentionShape& shape);

}  // namespace assay::model
