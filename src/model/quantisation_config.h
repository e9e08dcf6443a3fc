// How a checkpoint is stored, from the words of its config.json: `dtype` and `quantization_config`
// as transformers, compressed-tensors, modelopt, GPTQ, AWQ and bitsandbytes write them.
#pragma once

#include "model/config_keys.h"
#include "model/quantisation.h"

namespace assay::model {

// What `root`, or `text` within it, says. Throws UsageError for a method that isn't known. Without
// a dtype, bf16, and `unknown` says so.
Quantisation read_quantisation(const Keys& root, const Keys& text,
                               std::vector<std::string>& unknown);

}  // namespace assay::model
