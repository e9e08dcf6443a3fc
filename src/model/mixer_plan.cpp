#include <algorithm>
#include <array>

#include "model/layer_plan_parts.h"

namespace assay::model {
namespace {

using Mixer = LayerPlan::Mixer;
using FeedForward = LayerPlan::FeedForward;
using Plans = std::vector<LayerPlan>;

std::optional<std::int64_t> window_of(const Keys& keys) {
    return keys.optional_integer({"sliding_window", "sliding_window_size", "window_size"}, kTokens);
}

std::int64_t needed_window(const Keys& keys) {
    return keys.integer({"sliding_window", "sliding_window_size", "window_size"}, kTokens);
}

// layer_types and layers_block_type: a word a layer.
void apply_word(const PlanReading& in, std::string_view name, std::string_view word,
                LayerPlan& plan) {
    if (word == "full_attention" || word == "attention" || word == "global_attention" ||
        word == "full" || word == "global") {
        plan.mixer = Mixer::attention;
        plan.window.reset();
    } else if (word == "sliding_attention" || word == "local_attention" || word == "sliding" ||
               word == "local") {
        plan.window = needed_window(in.keys);
    } else if (word == "chunked_attention") {
        plan.window = in.keys.integer({"attention_chunk_size"}, kTokens);
    } else if (word == "linear_attention") {
        plan.mixer = Mixer::gated_delta;
    } else if (word == "mamba" || word == "mamba2") {
        plan.mixer = Mixer::mamba;
    } else if (word == "moe") {
        plan = {.mixer = Mixer::none, .feed_forward = FeedForward::experts};
    } else if (word == "mlp") {
        plan = {.mixer = Mixer::none, .feed_forward = FeedForward::dense};
    } else {
        in.keys.fail(name, fmt::format("has layers of an unknown kind, \"{:.40}\"", word));
    }
}

bool by_words(const PlanReading& in, Plans& plans) {
    for (const auto* name : {"layer_types", "layers_block_type"}) {
        if (!in.keys.has({name})) continue;
        const auto words = in.keys.words({name});
        in.expect_length(name, words);
        // Where feed-forward parts are layers of their own, the other layers have none.
        const bool single = std::ranges::any_of(
            words, [](const auto& word) { return word == "moe" || word == "mlp"; });
        for (std::size_t i = 0; i < plans.size(); ++i) {
            if (single) plans[i].feed_forward = FeedForward::none;
            apply_word(in, name, words[i], plans[i]);
        }
        return true;
    }
    return false;
}

LayerPlan plan_of_letter(const Keys& keys, std::string_view name, char letter) {
    LayerPlan plan{.mixer = Mixer::none, .feed_forward = FeedForward::none};
    switch (letter) {
        case 'M':
            plan.mixer = Mixer::mamba;
            break;
        case '*':
            plan.mixer = Mixer::attention;
            break;
        case 'E':
            plan.feed_forward = FeedForward::experts;
            break;
        case '-':
            plan.feed_forward = FeedForward::dense;
            break;
        default:
            keys.fail(name, "has another letter than M, *, E and -");
    }
    return plan;
}

// A letter a layer.
bool by_letters(const PlanReading& in, Plans& plans) {
    constexpr auto kName = "hybrid_override_pattern";
    if (!in.keys.has({kName})) return false;
    const auto listed = plan_letters(in.keys, kName);
    in.expect_length(kName, listed);
    std::copy_n(listed.begin(), plans.size(), plans.begin());
    return true;
}

// Layers counted from 1.
bool by_linear_lists(const PlanReading& in, Plans& plans) {
    if (!in.keys.has({"linear_attn_config"})) return false;
    const auto linear = in.keys.table("linear_attn_config");
    const Bounds layer{1, in.layers};
    for (auto& plan : plans) plan.mixer = Mixer::none;
    for (const auto i : linear.integers({"kda_layers"}, layer)) {
        plans[static_cast<std::size_t>(i - 1)].mixer = Mixer::kimi_delta;
    }
    for (const auto i : linear.integers({"full_attn_layers"}, layer)) {
        plans[static_cast<std::size_t>(i - 1)].mixer = Mixer::attention;
    }
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (plans[i].mixer == Mixer::none) {
            linear.fail("kda_layers",
                        fmt::format("and \"full_attn_layers\" both leave out layer {}", i + 1));
        }
    }
    return true;
}

bool by_compress_ratios(const PlanReading& in, Plans& plans) {
    constexpr auto kName = "compress_ratios";
    if (!in.keys.has({kName})) return false;
    const auto ratios = in.keys.integers({kName});
    in.expect_length(kName, ratios);
    for (std::size_t i = 0; i < plans.size(); ++i) plans[i].ratio = ratios[i];
    return true;
}

// NAS blocks: attention or feed-forward may be left out, and differ in width.
std::optional<std::int64_t> block_width(const PlanReading& in, const Keys& block) {
    if (const auto width = block.optional_integer({"intermediate_size"})) return width;
    const auto* factor = block.find({"ffn_mult"});
    if (factor == nullptr) return std::nullopt;
    const double value = factor->is_number() ? factor->get<double>() : 0;
    if (!(value > 0 && value <= 64)) block.fail("ffn_mult", "isn't a number above 0, up to 64");
    // Two thirds of the width of a plain perceptron, rounded up to 256: the gated one's equal.
    const auto raw = static_cast<std::int64_t>(2 * value * static_cast<double>(in.hidden) / 3);
    return (raw + 255) / 256 * 256;
}

void apply_block(const PlanReading& in, const Keys& block, LayerPlan& plan) {
    const auto attention = block.table("attention"), feed_forward = block.table("ffn");
    for (const auto& part : {attention, feed_forward}) {
        if (part.flag_or({"replace_with_linear"}, false)) {
            part.fail("replace_with_linear", "is a kind of layer that isn't known");
        }
    }
    if (attention.flag_or({"no_op"}, false)) plan.mixer = Mixer::none;
    if (const auto group = attention.optional_integer({"n_heads_in_group"}, {1, 1 << 14})) {
        const auto heads = in.keys.integer({"num_attention_heads"}, {1, 1 << 14});
        if (heads % *group != 0) attention.fail("n_heads_in_group", "doesn't divide the heads");
        plan.kv_heads = heads / *group;
    }
    if (const auto window = attention.optional_integer({"window_length"}, kTokens)) {
        plan.window = window;
    }
    if (feed_forward.flag_or({"no_op"}, false)) plan.feed_forward = FeedForward::none;
    plan.width = block_width(in, feed_forward);
}

bool by_blocks(const PlanReading& in, Plans& plans) {
    constexpr auto kName = "block_configs";
    if (!in.keys.has({kName})) return false;
    const auto blocks = in.keys.tables(kName);
    in.expect_length(kName, blocks);
    for (std::size_t i = 0; i < plans.size(); ++i) apply_block(in, blocks[i], plans[i]);
    return true;
}

// Llama 4: layers without rotary positions (0 in the list, else every fourth) see all, the others a
// chunk.
bool by_chunks(const PlanReading& in, Plans& plans) {
    if (!in.keys.has({"attention_chunk_size"}) || !in.keys.has({"no_rope_layer_interval"})) {
        return false;
    }
    const auto chunk = in.keys.integer({"attention_chunk_size"}, kTokens);
    const auto interval =
        static_cast<std::size_t>(in.keys.integer({"no_rope_layer_interval"}, kLayers));
    const auto rotary = in.keys.integers({"no_rope_layers"});
    if (!rotary.empty()) in.expect_length("no_rope_layers", rotary);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const bool chunked = rotary.empty() ? (i + 1) % interval != 0 : rotary[i] != 0;
        if (chunked) plans[i].window = chunk;
    }
    return true;
}

// 0 full, 1 sliding.
bool by_hybrid_pattern(const PlanReading& in, Plans& plans) {
    constexpr auto kName = "hybrid_layer_pattern";
    if (!in.keys.has({kName})) return false;
    const auto sliding = in.keys.integers({kName}, {0, 1});
    in.expect_length(kName, sliding);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (sliding[i] == 1) plans[i].window = needed_window(in.keys);
    }
    return true;
}

// Every nth layer is full, the others have a window or no attention at all.
bool by_interval(const PlanReading& in, Plans& plans) {
    if (const auto n = in.keys.optional_integer({"full_attention_interval"}, kLayers)) {
        for (std::size_t i = 0; i < plans.size(); ++i) {
            if ((i + 1) % static_cast<std::size_t>(*n) != 0) plans[i].mixer = Mixer::gated_delta;
        }
        return true;
    }
    const auto* pattern = in.keys.find({"sliding_window_pattern", "_sliding_window_pattern"});
    if (pattern == nullptr || !window_of(in.keys)) return false;
    if (pattern->is_string()) {  // "LLLG": local and global, repeated
        const auto letters = pattern->get<std::string>();
        if (letters.empty()) return false;
        for (std::size_t i = 0; i < plans.size(); ++i) {
            if (letters[i % letters.size()] != 'G') plans[i].window = window_of(in.keys);
        }
        return true;
    }
    const auto n = static_cast<std::size_t>(
        in.keys.integer({"sliding_window_pattern", "_sliding_window_pattern"}, kLayers));
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if ((i + 1) % n != 0) plans[i].window = window_of(in.keys);
    }
    return true;
}

// The window on every layer, or from one on; Qwen's configs hold one that isn't used.
void by_window(const PlanReading& in, Plans& plans) {
    const auto window = window_of(in.keys);
    if (!window || !in.keys.flag_or({"use_sliding_window"}, true)) return;
    const auto first = in.keys.has({"use_sliding_window"})
                           ? in.keys.integer_or({"max_window_layers"}, 0, kCount)
                           : 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        if (static_cast<std::int64_t>(i) >= first) plans[i].window = window;
    }
}

}  // namespace

std::vector<LayerPlan> plan_letters(const Keys& keys, std::string_view name) {
    std::vector<LayerPlan> plans;
    for (const char letter : keys.text_or({name}, "")) {
        plans.push_back(plan_of_letter(keys, name, letter));
    }
    return plans;
}

void plan_mixers(const PlanReading& in, std::vector<LayerPlan>& plans) {
    constexpr std::array kWays{by_words,  by_letters, by_linear_lists,   by_compress_ratios,
                               by_blocks, by_chunks,  by_hybrid_pattern, by_interval};
    if (std::ranges::none_of(kWays, [&](const auto way) { return way(in, plans); })) {
        by_window(in, plans);
    }
}

}  // namespace assay::model
