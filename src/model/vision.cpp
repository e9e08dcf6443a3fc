#include "model/vision.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace assay::model {
namespace {

constexpr Bounds kSmall{1, 1 << 12};
constexpr Bounds kPlain{1, 1 << 16};

std::int64_t linear(std::int64_t out, std::int64_t in) {
    return out * in + out;
}
std::int64_t layer_norm(std::int64_t width) {
    return 2 * width;
}

// The encoder layer that all but Gemma 4 share: two LayerNorms, four projections and two products,
// each with a bias.
std::int64_t encoder_layer(std::int64_t width, std::int64_t inner) {
    return 2 * layer_norm(width) + 4 * linear(width, width) + linear(inner, width) +
           linear(width, inner);
}

// Qwen3-VL and Qwen3.5: patches over two frames, a merger of 2x2 of them, one more merger for each
// layer that is also fed to the language model.
std::int64_t qwen3_vision(const Keys& v, std::int64_t hidden) {
    const auto width = v.integer({"hidden_size"}, kPlain);
    const auto inner = v.integer({"intermediate_size"}, kPlain);
    const auto depth = v.integer({"depth", "num_hidden_layers"}, kSmall);
    const auto patch = v.integer({"patch_size"}, kSmall);
    const auto frames = v.integer_or({"temporal_patch_size"}, 2, kSmall);
    const auto channels = v.integer_or({"in_channels"}, 3, kSmall);
    const auto merge = v.integer_or({"spatial_merge_size"}, 2, {1, 64});
    const auto out = v.integer_or({"out_hidden_size"}, hidden);
    const auto deep = static_cast<std::int64_t>(v.integers({"deepstack_visual_indexes"}).size());
    const auto merged = width * merge * merge;
    const auto merger = linear(merged, merged) + linear(out, merged);
    return linear(width, channels * frames * patch * patch) +
           v.integer({"num_position_embeddings"}, {1, 1 << 20}) * width +
           depth * encoder_layer(width, inner) + merger + layer_norm(width) +
           deep * (merger + layer_norm(merged));
}

// Gemma 3's SigLIP: one position for each patch, a norm and a matrix into the language model.
std::int64_t siglip_vision(const Keys& v, std::int64_t hidden) {
    const auto width = v.integer({"hidden_size"}, kPlain);
    const auto inner = v.integer({"intermediate_size"}, kPlain);
    const auto depth = v.integer({"num_hidden_layers"}, kSmall);
    const auto patch = v.integer({"patch_size"}, kSmall);
    const auto side = v.integer({"image_size"}, {1, 1 << 14}) / patch;
    return linear(width, 3 * patch * patch) + side * side * width +
           depth * encoder_layer(width, inner) + layer_norm(width) + width + width * hidden;
}

// Gemma 4: RMS norms around both parts, a gate, norms of queries and keys, two axes of positions.
std::int64_t gemma4_vision(const Keys& v, std::int64_t hidden) {
    const auto width = v.integer({"hidden_size"}, kPlain);
    const auto inner = v.integer({"intermediate_size"}, kPlain);
    const auto depth = v.integer({"num_hidden_layers"}, kSmall);
    const auto patch = v.integer({"patch_size"}, kSmall);
    const auto heads = v.integer({"num_attention_heads"}, kSmall);
    const auto dim = v.integer_or({"head_dim"}, width / heads, kPlain);
    const auto layer = 4 * width * heads * dim + 3 * width * inner + 2 * dim + 4 * width;
    return 3 * patch * patch * width + 2 * v.integer({"position_embedding_size"}) * width +
           depth * layer + width * hidden;
}

// Llama 4: a class token, 2x2 patches shuffled into one, two matrices, and one into the model.
std::int64_t llama4_vision(const Keys& v, std::int64_t hidden) {
    const auto width = v.integer({"hidden_size"}, kPlain);
    const auto inner = v.integer({"intermediate_size"}, kPlain);
    const auto depth = v.integer({"num_hidden_layers"}, kSmall);
    const auto patch = v.integer({"patch_size"}, kSmall);
    const auto side = v.integer({"image_size"}, {1, 1 << 14}) / patch;
    const auto projector_in = v.integer({"projector_input_dim"}, kPlain);
    const auto projector_out = v.integer({"projector_output_dim"}, kPlain);
    const auto out = v.integer({"vision_output_dim"}, kPlain);
    return 3 * patch * patch * width + width + (side * side + 1) * width + 2 * layer_norm(width) +
           depth * encoder_layer(width, inner) + inner * projector_in +
           projector_in * projector_out + out * hidden;
}

struct Kind {
    std::vector<std::string_view> types;  // of vision_config, else of the model
    std::int64_t (*parameters)(const Keys& vision, std::int64_t hidden);
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> kKinds{
        {{"qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"}, qwen3_vision},
        {{"siglip_vision_model"}, siglip_vision},
        {{"gemma4_vision"}, gemma4_vision},
        {{"llama4_vision_model"}, llama4_vision},
    };
    return kKinds;
}

// Models whose checkpoints have a tower even where a config leaves it out.
constexpr std::string_view kSeeing[] = {"llama4",   "kimi_k3",      "kimi_k25", "gemma4",
                                        "qwen3_vl", "qwen3_vl_moe", "qwen3_5",  "qwen3_5_moe"};

}  // namespace

void add_vision(const Keys& root, Transformer& shape) {
    const auto type = root.text_or({"model_type"}, "");
    if (!root.has({"vision_config"})) {
        if (std::ranges::find(kSeeing, type) != std::end(kSeeing)) {
            shape.unknown.emplace_back("the vision tower");
        }
        return;
    }
    const auto vision = root.table("vision_config");
    const auto own = vision.text_or({"model_type"}, type);
    for (const auto& kind : kinds()) {
        if (std::ranges::find(kind.types, own) == kind.types.end()) continue;
        shape.extras.push_back({.what = "vision tower",
                                .parameters = kind.parameters(vision, shape.hidden),
                                .tower = true});
        return;
    }
    const auto layers = vision.optional_integer(
        {"num_hidden_layers", "vt_num_hidden_layers", "depth", "num_layers"}, kCount);
    shape.unknown.push_back(layers ? fmt::format("the vision tower of {} layers", *layers)
                                   : "the vision tower");
}

}  // namespace assay::model
