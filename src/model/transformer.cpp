#include "model/transformer.h"

#include <functional>
#include <numeric>

#include <fmt/format.h>

namespace assay::model {
namespace {

std::int64_t elements(const Tensor& tensor) {
    return std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1},
                           std::multiplies<>{});
}

std::string mixer_kind(const Mixer& mixer) {
    std::string kind;
    switch (mixer.kind) {
        case Mixer::Kind::none:
            return "";
        case Mixer::Kind::linear:
            return "linear attention";
        case Mixer::Kind::state_space:
            return "Mamba";
        case Mixer::Kind::latent:
            kind = "MLA";
            break;
        case Mixer::Kind::attention:
            kind = mixer.kv_heads == mixer.heads ? "MHA" : mixer.kv_heads == 1 ? "MQA" : "GQA";
            break;
    }
    if (mixer.window) kind += fmt::format(" window {}", *mixer.window);
    if (mixer.stride > 1) kind += fmt::format(" compressed {}", mixer.stride);
    if (mixer.top_k) kind += fmt::format(" top {}", *mixer.top_k);
    return kind;
}

std::string feed_forward_kind(const FeedForward& feed_forward) {
    switch (feed_forward.kind) {
        case FeedForward::Kind::none:
            return "";
        case FeedForward::Kind::dense:
            return fmt::format("dense {}", feed_forward.width);
        case FeedForward::Kind::experts:
            return fmt::format("{} experts of {}", feed_forward.experts, feed_forward.width);
    }
    return "";
}

}  // namespace

std::int64_t Tensor::parameters() const {
    return tied ? 0 : elements(*this) * copies;
}

double Tensor::active() const {
    return static_cast<double>(elements(*this)) * used;
}

std::string Layer::kind() const {
    const auto mixing = mixer_kind(mixer), feeding = feed_forward_kind(feed_forward);
    if (mixing.empty() && feeding.empty()) return "empty";
    return mixing + (mixing.empty() || feeding.empty() ? "" : ", ") + feeding;
}

}  // namespace assay::model
