// The attention of known models: heads, dims and window of their layers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::probes {

struct AttentionShape {
    std::string layer;  // "mistral-7b attention"
    std::int64_t heads = 0, kv_heads = 0;
    std::int64_t dim = 0, value_dim = 0;
    std::optional<std::int64_t> window = std::nullopt;
};

// Each kind of softmax attention in the model's layers once, in order, on one of `tp` devices that
// share the heads. Of latent attention (MLA) it is the form of prefill and training: keys and
// values of every head. `model` is a shipped config's name, or a file. Throws UsageError where the
// heads don't divide, or there is no such layer.
std::vector<AttentionShape> attention_shapes(std::string_view model, std::int64_t tp);

}  // namespace assay::probes
