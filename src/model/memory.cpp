#include "model/memory.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "model/stage.h"

namespace assay::model {

namespace {

constexpr double kActivationBytes = 2;  // bf16
constexpr double kLogitBytes = 4;       // fp32, for the loss
constexpr double kGatheredLayers = 2;   // ZeRO 3: one at work, one on its way

struct Named {
    Recompute recompute;
    std::string_view name;
};
constexpr std::array<Named, 3> kRecompute{
    {{Recompute::nothing, "none"}, {Recompute::norms, "norms"}, {Recompute::full, "full"}}};

// Elements of a token that one rank keeps of a half layer.
double produced(const Produced& of, const Layout& layout) {
    return of.divided / layout.tensor + of.whole +
           of.routed * layout.expert_tensor() / layout.tensor;
}

double kept_in_training(const HeldLayer& layer, double hidden, const Layout& layout,
                        Recompute recompute) {
    const double residual = hidden * layer.sublayers / layout.tensor;
    const double all =
        2 * residual + produced(layer.mixing, layout) + produced(layer.feeding, layout);
    if (recompute == Recompute::norms) {
        return all - residual - layer.feeding.activation / layout.tensor;
    }
    return all;
}

double training_activations(const Holdings& holdings, const Layout& layout, const Use& use,
                            int stage) {
    const auto hidden = static_cast<double>(holdings.hidden);
    const auto recompute = use.training->recompute;
    double kept = 0, widest = 0;
    for_each_layer(holdings, layout, stage, [&](const HeldLayer& layer) {
        const double one = kept_in_training(layer, hidden, layout, recompute);
        kept += recompute == Recompute::full ? hidden / layout.tensor : one;
        widest = std::max(widest, one);
    });
    const double tokens =
        static_cast<double>(units_of_rank(use.context, layout.context) * use.batch);
    double elements = kept * (layout.pipeline - stage);
    if (recompute == Recompute::full) elements += widest;
    double bytes = elements * kActivationBytes;
    if (stage == layout.pipeline - 1) {
        bytes +=
            static_cast<double>(units_of_rank(holdings.vocabulary, layout.tensor)) * kLogitBytes;
    }
    return bytes * tokens;
}

double inference_activations(const Holdings& holdings, const Layout& layout, const Use& use,
                             int stage) {
    double widest = 0;
    for_each_layer(holdings, layout, stage, [&](const HeldLayer& layer) {
        widest =
            std::max({widest, produced(layer.mixing, layout), produced(layer.feeding, layout)});
    });
    return static_cast<double>(use.chunk) * (2 * static_cast<double>(holdings.hidden) + widest) *
           kActivationBytes;
}

Memory training_memory(const Holdings& holdings, const Layout& layout, const Use& use, int stage) {
    const auto& training = *use.training;
    const auto& optimizer = training.optimizer;
    const auto replicas = static_cast<double>(layout.replicas(Purpose::training));
    const auto expert_replicas = static_cast<double>(layout.expert_replicas(Purpose::training));
    Memory memory;
    if (stage == 0) memory.weights = holdings.beside;
    for_each_piece(holdings, layout, stage, [&](const Piece& piece) {
        const double parameters = piece.parameters * share_of_device(piece, layout);
        const double over = piece.divided == Piece::Divided::by_expert ? expert_replicas : replicas;
        const auto held = [&](int from_stage, double bytes) {
            return parameters * bytes / (training.zero >= from_stage ? over : 1);
        };
        memory.weights += held(3, optimizer.weights + optimizer.copies);
        memory.gradients += held(2, optimizer.gradients);
        memory.optimizer += held(1, optimizer.optimizer());
    });
    if (training.zero == 3 && replicas > 1) {
        double largest = 0;
        for_each_layer(holdings, layout, stage, [&](const HeldLayer& layer) {
            double parameters = 0;
            for (const auto& piece : layer.pieces)
                parameters += piece.parameters * share_of_device(piece, layout);
            largest = std::max(largest, parameters);
        });
        memory.workspace += kGatheredLayers * largest *
                            (optimizer.copies > 0 ? optimizer.copies : optimizer.weights);
    }
    memory.activations = training_activations(holdings, layout, use, stage);
    memory.workspace += use.workspace;
    return memory;
}

void add_caches(const Holdings& holdings, const Layout& layout, const Use& use, int stage,
                Memory& memory) {
    const auto requests = static_cast<double>(units_of_rank(use.batch, layout.data));
    for_each_layer(holdings, layout, stage, [&](const HeldLayer& layer) {
        for (const auto& entry : layer.mixer.cache) {
            memory.kv_cache += requests * cached_bytes(entry, layout, use);
        }
        memory.state += requests * use.state_bytes *
                        static_cast<double>(layer.mixer.state_elements) *
                        share_of_rank(layer.mixer.heads, layout.tensor);
    });
}

Memory inference_memory(const Holdings& holdings, const Layout& layout, const Use& use, int stage) {
    Memory memory;
    if (stage == 0) memory.weights = holdings.beside;
    for_each_piece(holdings, layout, stage, [&](const Piece& piece) {
        memory.weights += piece.bytes * share_of_device(piece, layout);
    });
    add_caches(holdings, layout, use, stage, memory);
    memory.activations = inference_activations(holdings, layout, use, stage);
    memory.workspace = use.workspace;
    return memory;
}

}  // namespace

std::string_view name(Recompute recompute) {
    return std::ranges::find(kRecompute, recompute, &Named::recompute)->name;
}

Recompute parse_recompute(std::string_view word) {
    const auto found = std::ranges::find(kRecompute, word, &Named::name);
    if (found != kRecompute.end()) return found->recompute;
    static const std::array<std::string, 3> known{"none", "norms", "full"};
    throw_unknown("choice to recompute", word, known);
}

double Memory::total() const {
    return weights + gradients + optimizer + kv_cache + state + activations + workspace;
}

double Memory::variable(Purpose purpose) const {
    return purpose == Purpose::training ? activations : kv_cache + state;
}

Memory memory_of(const Holdings& holdings, const Layout& layout, const Use& use, int stage) {
    return use.training ? training_memory(holdings, layout, use, stage)
                        : inference_memory(holdings, layout, use, stage);
}

double variable_bytes(const Holdings& holdings, const Layout& layout, const Use& use, int stage) {
    Memory memory;
    if (use.training) {
        memory.activations = training_activations(holdings, layout, use, stage);
    } else {
        add_caches(holdings, layout, use, stage, memory);
    }
    return memory.variable(use.purpose());
}

}  // namespace assay::model
