#include "model/counts.h"

#include <algorithm>
#include <cmath>

namespace assay::model {
namespace {

std::int64_t parameters(const std::vector<Tensor>& tensors) {
    std::int64_t sum = 0;
    for (const auto& tensor : tensors) sum += tensor.parameters();
    return sum;
}

double active(const std::vector<Tensor>& tensors) {
    double sum = 0;
    for (const auto& tensor : tensors) sum += tensor.tied ? 0 : tensor.active();
    return sum;
}

std::int64_t of_role(const std::vector<Tensor>& tensors, Role role) {
    std::int64_t sum = 0;
    for (const auto& tensor : tensors) sum += tensor.role == role ? tensor.parameters() : 0;
    return sum;
}

void add_kind(const Layer& layer, std::vector<KindCount>& kinds) {
    const auto kind = layer.kind();
    auto row = std::ranges::find(kinds, kind, &KindCount::kind);
    if (row == kinds.end()) row = kinds.insert(row, KindCount{.kind = kind});
    row->layers += 1;
    row->parameters += parameters(layer.tensors);
    row->active += active(layer.tensors);
}

}  // namespace

Counts count(const Transformer& shape) {
    Counts counts;
    counts.total = parameters(shape.input) + parameters(shape.output);
    counts.active = active(shape.input) + active(shape.output);
    counts.embedding = of_role(shape.input, Role::embedding);
    counts.head = of_role(shape.output, Role::head);
    for (const auto& layer : shape.layers) add_kind(layer, counts.kinds);
    for (const auto& kind : counts.kinds) {
        counts.total += kind.parameters;
        counts.active += kind.active;
    }
    for (const auto& layer : shape.predictors) counts.predictors += parameters(layer.tensors);
    for (const auto& extra : shape.extras) counts.extras += extra.parameters;
    return counts;
}

double distinct_experts(const FeedForward& feed_forward, double tokens) {
    if (feed_forward.kind != FeedForward::Kind::experts) return 0;
    const auto experts = static_cast<double>(feed_forward.experts);
    const auto missed = 1 - static_cast<double>(feed_forward.top_k) / experts;
    return experts * (1 - std::pow(missed, tokens));
}

double keys_met(const Mixer& mixer, double context) {
    const auto at_most = [](double value, const std::optional<std::int64_t>& limit) {
        return limit ? std::min(value, static_cast<double>(*limit)) : value;
    };
    if (mixer.kind != Mixer::Kind::attention && mixer.kind != Mixer::Kind::latent) return 0;
    if (mixer.stride == 1) return at_most(at_most(context, mixer.window), mixer.top_k);
    const double beside = mixer.window ? at_most(context, mixer.window) : 0;
    return beside + at_most(context / static_cast<double>(mixer.stride), mixer.top_k);
}

}  // namespace assay::model
