// How a model is laid over devices, and whether its dimensions allow it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/transformer.h"

namespace assay::model {

inline constexpr int kMostWays = 131'072;

enum class Purpose { inference, training };

// Widths of the kinds of parallelism; 1 is without.
// - tensor: heads, feed-forward widths and the vocabulary are divided.
// - pipeline: layers are divided into stages.
// - expert: routed experts are divided over ranks of one stage. Where it is at most `tensor`, each
//   expert is divided by the rest of it (TensorRT-LLM's moe_ep x moe_tp = tp); above, by nothing,
//   and it spans the replicas too (vLLM's EP = TP x DP). At 1 an expert is divided by `tensor`.
// - data: replicas of all but the experts that `expert` spreads, each with requests of its own.
//   With `tensor` 1 it is what engines call attention data parallelism.
// - context: tokens of a sequence are divided. In inference over ranks of the tensor group, which
//   adds no devices: `context` divides `tensor` (decode context parallelism, vllm-project/vllm
//   #23734). In training over devices of its own, as in Megatron-LM.
struct Layout {
    int tensor = 1;
    int pipeline = 1;
    int expert = 1;
    int data = 1;
    int context = 1;

    bool operator==(const Layout&) const = default;

    std::int64_t stage_devices(Purpose purpose) const;
    std::int64_t devices(Purpose purpose) const { return stage_devices(purpose) * pipeline; }
    // Whether `expert` divides `tensor` or spans whole tensor groups of a stage, and in inference
    // `context` divides `tensor`.
    bool has_meaning(Purpose purpose) const;
    // Ranks that divide one expert.
    int expert_tensor() const;
    // Devices that hold the same slice of the same expert: ZeRO divides its states over them.
    std::int64_t expert_replicas(Purpose purpose) const;
    // The same for all other tensors.
    std::int64_t replicas(Purpose purpose) const;
    // "TP 8", "TP 8 x PP 2", "one device".
    std::string text() const;
};

// Layers of each stage, as many as `pipeline` says: equal, and what is over goes one each to the
// stages before the last, from the back (vLLM, distributed/utils.py get_pp_indices): the last stage
// has the head already.
std::vector<std::int64_t> stage_layers(std::int64_t layers, int pipeline);

// Of `units` things that can't be cut, what each of `ways` ranks holds: divided with the last ranks
// padded, or one each where there are fewer units than ranks (key-value heads are replicated).
std::int64_t units_of_rank(std::int64_t units, std::int64_t ways);
// The same as a part of the whole: 1 / ways where it divides.
double share_of_rank(std::int64_t units, std::int64_t ways);

// A dimension that a layout doesn't divide. Engines refuse all but a padded one.
struct Obstacle {
    std::string what;    // "attention heads", "self_attn.q_proj"
    std::int64_t units;  // 25
    std::string by;      // "TP 8"
    std::int64_t ways;
    bool padding_helps;  // zeros up to a multiple give the same result

    std::string text() const;  // "25 attention heads don't divide by TP 8"
};

// What stands against a layout, each dimension once. The vocabulary is no obstacle: every engine
// pads it. Throws UsageError for a width below 1 or above 131,072, an expert width that neither
// divides nor is a multiple of `tensor`, or a `context` that doesn't divide `tensor` in inference:
// such a layout has no meaning for any model.
std::vector<Obstacle> obstacles(const Transformer& transformer, const Layout& layout,
                                Purpose purpose);

}  // namespace assay::model
