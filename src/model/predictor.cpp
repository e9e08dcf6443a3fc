#include "model/predictor.h"

#include <fmt/format.h>

#include "model/compressed_attention.h"

namespace assay::model {
namespace {

void add_joining(const Decoder& d, Tensors tensors) {
    if (d.traits.predictor == Traits::Predictor::joint) {
        tensors.whole("eh_proj", d.hidden, 2 * d.hidden);
        tensors.last().keeps_type = true;
    } else {
        tensors.whole("e_proj", d.hidden, d.hidden);
        tensors.whole("h_proj", d.hidden, d.hidden);
    }
    for (const auto* name : {"enorm", "hnorm", "shared_head.norm"}) tensors.norm(name, d.hidden);
    if (const auto streams = d.keys.optional_integer({"hc_mult"}, {1, 64})) {
        add_hyper_head(tensors.within("hc_head_", Part::head), d.hidden, *streams);
    }
}

void add_shared(const Transformer& shape, const Tensors& tensors) {
    const std::vector<std::int64_t> size{shape.vocabulary, shape.hidden};
    tensors.within("", Part::embedding)
        .add({.name = "embed_tokens.weight",
              .shape = size,
              .role = Role::embedding,
              .split = Split::vocabulary,
              .tied = true});
    tensors.within("", Part::head)
        .add({.name = "shared_head.head.weight",
              .shape = size,
              .role = Role::head,
              .split = Split::vocabulary,
              .tied = true});
}

// As the model's last layer, but for what the config lists beyond it; or a layer for each letter.
std::vector<LayerPlan> predictor_plans(const Decoder& d, const LayerPlan& last, std::size_t layer) {
    auto letters = plan_letters(d.keys, "mtp_hybrid_override_pattern");
    if (!letters.empty()) return letters;
    auto plan = last;
    plan.hashed = false;
    if (plan.ratio) {
        const auto ratios = d.keys.integers({"compress_ratios"});
        plan.ratio = layer < ratios.size() ? ratios[layer] : 0;
    }
    return {plan};
}

}  // namespace

void add_predictors(const Decoder& decoder, const LayerPlan& last, Transformer& shape) {
    const auto count = decoder.keys.integer_or(
        {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "mtp_num_layers"},
        0, {0, 64});
    if (count == 0 || !decoder.keys.flag_or({"use_mtp"}, true)) return;
    if (decoder.traits.predictor == Traits::Predictor::unknown) {
        shape.unknown.push_back(
            fmt::format("how its {} multi-token-prediction layers are made", count));
        return;
    }
    if (decoder.traits.predictor == Traits::Predictor::unpublished) {
        shape.unknown.push_back(fmt::format(
            "weights of multi-token prediction: {} layers declared, in no checkpoint", count));
        return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
        const auto number = shape.layers.size() + static_cast<std::size_t>(i);
        const auto prefix = fmt::format("{}.{}.", decoder.traits.layers, number);
        const auto first = shape.predictors.size();
        for (const auto& plan : predictor_plans(decoder, last, number)) {
            shape.predictors.push_back(make_layer(decoder, plan, prefix));
        }
        const Tensors tensors(shape.predictors[first].tensors, prefix, Part::dense);
        add_joining(decoder, tensors);
        add_shared(shape, tensors);
    }
    if (decoder.traits.predictor_copies) {
        shape.extras.push_back({"embedding and head stored again for multi-token prediction",
                                2 * count * shape.vocabulary * shape.hidden, false, true});
    }
}

}  // namespace assay::model
