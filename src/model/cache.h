// What a request keeps on the device: keys and values, by context, and recurrent state.
// Sources: MHA and GQA 2 n_kv d elements a token and layer; MLA kv_lora_rank + qk_rope_head_dim,
// keys only (arXiv 2405.04434, 2.1); a window keeps at most its tokens.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/transformer.h"

namespace assay::model {

// Bytes of an element, apart from the type of the weights.
struct CacheType {
    std::string_view name;
    double bytes = 2;
    // vLLM's FP8 layout for DeepSeek-V3: of a latent, 1 byte an element and an FP32 for 128 of
    // them, with 2 bytes for each rotary element; of an indexer's key, 1 byte and an FP32 for 128.
    bool packed = false;
};
// fp32, fp16, bf16, fp8, int8, fp4, fp8_ds_mla. Throws UsageError for others.
const CacheType& cache_type(std::string_view name);

double entry_bytes(const CacheEntry& entry, const CacheType& type);

// Of one request of `context` tokens, all layers; whole entries only.
double cache_bytes(const Transformer& shape, double context, const CacheType& type);
// Of one layer.
double cache_bytes(const Mixer& mixer, double context, const CacheType& type);
// Added by each further token, where no window limits it.
double cache_bytes_per_token(const Transformer& shape, const CacheType& type);
// The most that layers with a window keep of a request.
double window_bytes(const Transformer& shape, const CacheType& type);

// Recurrent state and convolution inputs of a request, all layers.
std::int64_t state_elements(const Transformer& shape);

}  // namespace assay::model
