// DeepSeek-V4's attention: one cached vector a token, key and value at once for all heads, within a
// window; beside it entries that each stand for `ratio` tokens. At ratio 4 they overlap and an
// indexer selects among them, at larger ratios all are met; ratio 0 has the window alone.
// Shapes: the published checkpoint's tensor names and its parameter count, met to the last digit.
#pragma once

#include <cstdint>

#include "model/config_keys.h"
#include "model/tensors.h"

namespace assay::model {

void add_compressed_attention(Layer& layer, Tensors tensors, const Keys& keys, std::int64_t hidden,
                              std::int64_t ratio);

// The maps around each part of a layer that read and write `hc_mult` residual streams, and the one
// that joins the streams before the head.
void add_hyper_connection(Tensors tensors, std::int64_t hidden, std::int64_t streams);
void add_hyper_head(Tensors tensors, std::int64_t hidden, std::int64_t streams);

}  // namespace assay::model
