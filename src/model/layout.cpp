#include "model/layout.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::model {

namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

bool spreads_experts(const Layout& layout, Purpose purpose) {
    return layout.tensor % layout.expert == 0 ||
           (layout.expert % layout.tensor == 0 &&
            layout.stage_devices(purpose) % layout.expert == 0);
}

bool divides_tokens(const Layout& layout, Purpose purpose) {
    return purpose == Purpose::training || layout.tensor % layout.context == 0;
}

void expect_meaning(const Layout& layout, Purpose purpose) {
    const auto expect = [](int value, const char* option) {
        if (value >= 1 && value <= kMostWays) return;
        throw UsageError(fmt::format("{} {} is out of range", option, value),
                         fmt::format("give a whole number from 1 to {}", kMostWays));
    };
    expect(layout.tensor, "--tp");
    expect(layout.pipeline, "--pp");
    expect(layout.expert, "--ep");
    expect(layout.data, "--dp");
    expect(layout.context, "--cp");
    if (!spreads_experts(layout, purpose)) {
        throw UsageError(
            fmt::format("--ep {} neither divides --tp {} nor is a multiple of it that divides the "
                        "{} devices of a stage",
                        layout.expert, layout.tensor, layout.stage_devices(purpose)),
            "experts are spread over a part of the tensor group, or over whole groups");
    }
    if (!divides_tokens(layout, purpose)) {
        throw UsageError(
            fmt::format("--cp {} doesn't divide --tp {}", layout.context, layout.tensor),
            "decode context parallelism divides the tokens over ranks of the tensor group");
    }
}

// Key-value heads also lie one on several ranks, if those come out even.
bool divides(std::int64_t units, std::int64_t ways, bool replicable) {
    return units % ways == 0 || (replicable && units > 0 && ways % units == 0);
}

// The name without the layer's number: layers alike are told once.
std::string local_name(const std::string& name) {
    auto words = split(name, '.');
    const auto number = std::ranges::find_if(words.rbegin(), words.rend(), [](const auto& word) {
        return !word.empty() &&
               std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
    });
    words.erase(words.begin(), number.base());
    return join(words, ".");
}

std::string what_is_divided(const Tensor& tensor) {
    switch (tensor.part) {
        case Part::dense:
            return "columns of a feed-forward layer";
        case Part::experts:
            return "columns of an expert";
        case Part::shared_experts:
            return "columns of the shared experts";
        default:
            break;
    }
    return (tensor.units > 0 ? "heads or groups of " : "columns of ") + local_name(tensor.name);
}

class Obstacles {
  public:
    Obstacles(const Transformer& transformer, const Layout& layout)
        : transformer_(transformer), layout_(layout), tp_(fmt::format("TP {}", layout.tensor)) {}

    std::vector<Obstacle> all() {
        const auto layers = static_cast<std::int64_t>(transformer_.layers.size());
        if (layout_.pipeline > layers) {
            add({"layers", layers, fmt::format("PP {}", layout_.pipeline), layout_.pipeline,
                 false});
        }
        for (const auto* layers_of : {&transformer_.layers, &transformer_.predictors}) {
            for (const auto& layer : *layers_of) look_at(layer);
        }
        return std::move(found_);
    }

  private:
    void add(const Obstacle& obstacle) {
        const bool known = std::ranges::any_of(found_, [&](const Obstacle& other) {
            return other.what == obstacle.what && other.units == obstacle.units;
        });
        if (!known) found_.push_back(obstacle);
    }

    void look_at(const Layer& layer) {
        const auto& mixer = layer.mixer;
        const bool latent = mixer.kind == Mixer::Kind::latent;
        const bool attention = latent || mixer.kind == Mixer::Kind::attention;
        if (mixer.heads > 0 && !divides(mixer.heads, layout_.tensor, false)) {
            add({attention ? "attention heads" : "heads of the recurrence", mixer.heads, tp_,
                 layout_.tensor, mixer.heads > layout_.tensor});
        }
        if (attention && !latent && mixer.kv_heads > 0 && mixer.kv_heads != mixer.heads &&
            !divides(mixer.kv_heads, layout_.tensor, true)) {
            add({"key-value heads", mixer.kv_heads, tp_, layout_.tensor, false});
        }
        const auto& ff = layer.feed_forward;
        if (ff.kind == FeedForward::Kind::experts) {
            if (ff.experts % layout_.expert != 0) {
                add({"experts", ff.experts, fmt::format("EP {}", layout_.expert), layout_.expert,
                     ff.experts > layout_.expert});
            }
        }
        for (const auto& tensor : layer.tensors) look_at(tensor, attention);
    }

    // Dimensions that the heads and experts above don't stand for: feed-forward widths, groups.
    void look_at(const Tensor& tensor, bool attention) {
        const bool divided = tensor.split == Split::output || tensor.split == Split::input;
        if (!divided || tensor.shape.empty()) return;
        if (tensor.part == Part::attention && attention) return;
        const bool expert = tensor.part == Part::experts;
        const int ways = expert ? layout_.expert_tensor() : layout_.tensor;
        const auto size = tensor.units > 0               ? tensor.units
                          : tensor.split == Split::input ? tensor.shape.back()
                                                         : tensor.shape.front();
        if (divides(size, ways, tensor.units > 0)) return;
        const auto by = expert && layout_.expert > 1
                            ? fmt::format("TP {} / EP {}", layout_.tensor, layout_.expert)
                            : tp_;
        add({what_is_divided(tensor), size, by, ways, size > ways});
    }

    const Transformer& transformer_;
    const Layout& layout_;
    std::string tp_;
    std::vector<Obstacle> found_;
};

}  // namespace

std::int64_t Layout::stage_devices(Purpose purpose) const {
    const auto ways = static_cast<std::int64_t>(tensor) * data;
    return purpose == Purpose::training ? ways * context : ways;
}

bool Layout::has_meaning(Purpose purpose) const {
    return spreads_experts(*this, purpose) && divides_tokens(*this, purpose);
}

int Layout::expert_tensor() const {
    return std::max(1, tensor / expert);
}

std::int64_t Layout::expert_replicas(Purpose purpose) const {
    return stage_devices(purpose) / (static_cast<std::int64_t>(expert) * expert_tensor());
}

std::int64_t Layout::replicas(Purpose purpose) const {
    return stage_devices(purpose) / tensor;
}

std::string Layout::text() const {
    std::vector<std::string> words;
    const auto add = [&](const char* name, int ways) {
        if (ways > 1) words.push_back(fmt::format("{} {}", name, ways));
    };
    add("TP", tensor);
    add("PP", pipeline);
    add("DP", data);
    add("EP", expert);
    add("CP", context);
    return words.empty() ? "one device" : join(words, " x ");
}

std::vector<std::int64_t> stage_layers(std::int64_t layers, int pipeline) {
    const auto stages = static_cast<std::size_t>(pipeline);
    std::vector<std::int64_t> counts(stages, layers / pipeline);
    const auto over = static_cast<std::size_t>(layers % pipeline);
    for (std::size_t i = 0; i < over; ++i) ++counts[stages - 2 - i];
    return counts;
}

std::int64_t units_of_rank(std::int64_t units, std::int64_t ways) {
    return ceil_divide(units, ways);
}

double share_of_rank(std::int64_t units, std::int64_t ways) {
    if (units <= 0) return 1;
    return static_cast<double>(units_of_rank(units, ways)) / static_cast<double>(units);
}

std::string Obstacle::text() const {
    return fmt::format("{} {} don't divide by {}", units, what, by);
}

std::vector<Obstacle> obstacles(const Transformer& transformer, const Layout& layout,
                                Purpose purpose) {
    expect_meaning(layout, purpose);
    return Obstacles(transformer, layout).all();
}

}  // namespace assay::model
