// Vision towers and the projectors that lead into the language model: parameters only. Each kind's
// count equals the published total of its checkpoint less the language model.
#pragma once

#include "model/config_keys.h"
#include "model/transformer.h"

namespace assay::model {

// Adds the tower of `vision_config` to the shape's extras, or, for a kind that isn't known, to its
// unknown; nothing for a model without one.
void add_vision(const Keys& root, Transformer& shape);

}  // namespace assay::model
