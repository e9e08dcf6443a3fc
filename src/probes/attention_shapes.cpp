#include "probes/attention_shapes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "model/config.h"

namespace assay::probes {

namespace {

std::int64_t heads_of_rank(std::string_view model, std::int64_t heads, std::int64_t tp) {
    if (heads % tp == 0) return heads / tp;
    throw UsageError(fmt::format("{} heads of {} don't divide by --tp {}", heads, model, tp),
                     "choose a divisor of the heads");
}

// Fewer key/value heads than devices are held by several of them.
std::int64_t kv_heads_of_rank(std::string_view model, std::int64_t kv_heads, std::int64_t tp) {
    return tp % kv_heads == 0 ? 1 : heads_of_rank(model, kv_heads, tp);
}

}  // namespace

std::vector<AttentionShape> attention_shapes(std::string_view model, std::int64_t tp) {
    if (tp < 1) {
        throw UsageError(fmt::format("--tp {} is below 1", tp), "give the number of devices");
    }
    const auto loaded = model::load_model(model);
    std::vector<AttentionShape> shapes;
    for (const auto& layer : loaded.shape.layers) {
        const auto& mixer = layer.mixer;
        const bool latent = mixer.kind == model::Mixer::Kind::latent;
        if (!latent && mixer.kind != model::Mixer::Kind::attention) continue;
        AttentionShape shape;
        shape.layer = fmt::format("{} {}", model, latent ? "MLA" : "attention");
        shape.heads = heads_of_rank(model, mixer.heads, tp);
        shape.kv_heads = kv_heads_of_rank(model, mixer.kv_heads, tp);
        shape.dim = mixer.key_dim;
        shape.value_dim = mixer.value_dim;
        shape.window = mixer.window;
        const bool known = std::ranges::any_of(shapes, [&](const AttentionShape& other) {
            return other.layer == shape.layer && other.heads == shape.heads &&
                   other.kv_heads == shape.kv_heads && other.dim == shape.dim &&
                   other.value_dim == shape.value_dim && other.window == shape.window;
        });
        if (!known) shapes.push_back(std::move(shape));
    }
    if (shapes.empty()) {
        throw UsageError(fmt::format("{} has no layer of softmax attention", model),
                         "name another model, or give --heads and --dim");
    }
    return shapes;
}

}  // namespace assay::probes
