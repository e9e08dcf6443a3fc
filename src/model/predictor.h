// Multi-token-prediction layers (DeepSeek-V3, arXiv 2412.19437 section 2.2): each joins the hidden
// state with the next token's embedding and passes both through a layer as the model's last.
#pragma once

#include "model/decoder.h"

namespace assay::model {

// Adds them to `shape`, or, where the family's aren't known, says so in `shape.unknown`. `last` is
// the plan of the model's last layer. The model's embedding and head are theirs too.
void add_predictors(const Decoder& decoder, const LayerPlan& last, Transformer& shape);

}  // namespace assay::model
