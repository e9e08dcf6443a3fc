// One multi-layer perceptron that every token passes through.
#pragma once

#include <cstdint>

#include "model/tensors.h"

namespace assay::model {

struct DenseShape {
    std::int64_t hidden = 0, width = 0;
    bool gated = true;  // a third matrix, whose product multiplies the second's: SwiGLU and its kin
    bool bias = false;
};

void add_dense_tensors(Tensors tensors, const DenseShape& shape);
// Those, and the layer's feed-forward set.
void add_dense(Layer& layer, Tensors tensors, const DenseShape& shape);

}  // namespace assay::model
