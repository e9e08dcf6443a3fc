#include <algorithm>

#include "model/experts.h"
#include "model/layer_plan_parts.h"

namespace assay::model {
namespace {

using FeedForward = LayerPlan::FeedForward;
using Plans = std::vector<LayerPlan>;

void set_experts(LayerPlan& plan, bool routed) {
    if (plan.feed_forward == FeedForward::none) return;
    plan.feed_forward = routed ? FeedForward::experts : FeedForward::dense;
}

// Layers that are routed, one value each: mlp_layer_types, moe_layer_freq as a list.
bool by_layer_list(const PlanReading& in, Plans& plans) {
    if (in.keys.has({"mlp_layer_types"})) {
        const auto words = in.keys.words({"mlp_layer_types"});
        in.expect_length("mlp_layer_types", words);
        for (std::size_t i = 0; i < plans.size(); ++i) set_experts(plans[i], words[i] != "dense");
        return true;
    }
    const auto* frequency = in.keys.find({"moe_layer_freq"});
    if (frequency == nullptr || !frequency->is_array()) return false;
    const auto routed = in.keys.integers({"moe_layer_freq"}, {0, 1});
    in.expect_length("moe_layer_freq", routed);
    for (std::size_t i = 0; i < plans.size(); ++i) set_experts(plans[i], routed[i] == 1);
    return true;
}

// Every nth layer from one on, but for those named as dense.
void by_steps(const PlanReading& in, Plans& plans) {
    const auto& keys = in.keys;
    const auto first =
        keys.integer_or({"first_k_dense_replace", "moe_layer_start_index"}, 0, kCount);
    const auto every = keys.integer_or(
        {"interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_interval"}, 0, kCount);
    const auto frequency = keys.integer_or({"moe_layer_freq"}, 1, kLayers);
    const auto dense = keys.integers({"mlp_only_layers"});
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const auto layer = static_cast<std::int64_t>(i);
        bool routed = layer >= first && layer % frequency == 0;
        if (every > 0) routed = routed && (layer + 1) % every == 0;
        if (std::ranges::find(dense, layer) != dense.end()) routed = false;
        set_experts(plans[i], routed);
    }
}

}  // namespace

void plan_feed_forwards(const PlanReading& in, Plans& plans) {
    const bool listed = std::ranges::any_of(
        plans, [](const LayerPlan& plan) { return plan.mixer == LayerPlan::Mixer::none; });
    if (!has_experts(in.keys) || (listed && !in.keys.has({"block_configs"}))) return;
    if (!by_layer_list(in, plans)) by_steps(in, plans);
    const auto hashed = in.keys.integer_or({"num_hash_layers"}, 0, kCount);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        plans[i].hashed = static_cast<std::int64_t>(i) < hashed;
    }
}

}  // namespace assay::model
