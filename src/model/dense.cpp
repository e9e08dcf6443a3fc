#include "model/dense.h"

namespace assay::model {

void add_dense_tensors(Tensors tensors, const DenseShape& shape) {
    if (shape.gated) tensors.by_output("gate_proj", shape.width, shape.hidden, 0, shape.bias);
    tensors.by_output("up_proj", shape.width, shape.hidden, 0, shape.bias);
    tensors.by_input("down_proj", shape.hidden, shape.width, 0, shape.bias);
}

void add_dense(Layer& layer, Tensors tensors, const DenseShape& shape) {
    layer.feed_forward = {.kind = FeedForward::Kind::dense, .width = shape.width};
    add_dense_tensors(std::move(tensors), shape);
}

}  // namespace assay::model
