// Which kind of mixer and of feed-forward each layer has, from the many ways in which configs say
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/config_keys.h"

namespace assay::model {

struct LayerPlan {
    enum class Mixer { none, attention, kimi_delta, gated_delta, mamba };
    enum class FeedForward { none, dense, experts };

    Mixer mixer = Mixer::attention;
    FeedForward feed_forward = FeedForward::dense;
    std::optional<std::int64_t> window = {};  // of attention: sliding or chunked
    std::optional<std::int64_t> ratio = {};   // of compressed attention: DeepSeek-V4's
    bool hashed = false;                      // routed by a table
    bool shares_keys = false;                 // an earlier layer's keys and values
    // Where they differ by layer.
    std::optional<std::int64_t> heads = {}, kv_heads = {}, width = {};

    bool operator==(const LayerPlan&) const = default;
};

// A letter a layer, each with one part only: M Mamba, * attention, E experts, - dense. Empty
// without the key.
std::vector<LayerPlan> plan_letters(const Keys& keys, std::string_view name);

// One for each of the `layers`. Throws UsageError for lists of another length and unknown words.
std::vector<LayerPlan> plan_layers(const Keys& keys, std::int64_t layers, std::int64_t hidden);

}  // namespace assay::model
