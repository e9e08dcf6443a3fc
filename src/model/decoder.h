// The language model that a config describes: embeddings, layers, head, and the layers that predict
// further tokens.
#pragma once

#include "model/config_keys.h"
#include "model/family.h"
#include "model/layer_plan.h"
#include "model/transformer.h"

namespace assay::model {

// What every layer of one model shares.
struct Decoder {
    const Keys& keys;
    const Traits& traits;
    std::int64_t hidden = 0;
};

// "model.layers.3.": its tensors' names begin so.
Layer make_layer(const Decoder& decoder, const LayerPlan& plan, const std::string& prefix);

// Throws UsageError for what is missing or has no meaning.
Transformer make_decoder(const Keys& root, const Keys& text, const Family& family);

}  // namespace assay::model
