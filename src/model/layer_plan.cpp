#include "model/layer_plan.h"

#include "model/layer_plan_parts.h"

namespace assay::model {
namespace {

using Plans = std::vector<LayerPlan>;

void plan_heads(const PlanReading& in, Plans& plans) {
    constexpr auto kName = "num_attention_heads_per_layer";
    if (!in.keys.has({kName})) return;
    const auto heads = in.keys.integers({kName}, {1, 1 << 14});
    in.expect_length(kName, heads);
    for (std::size_t i = 0; i < plans.size(); ++i) plans[i].heads = heads[i];
}

// The last layers use the keys and values of earlier ones.
void plan_sharing(const PlanReading& in, Plans& plans) {
    const auto shared = in.keys.integer_or({"num_kv_shared_layers"}, 0, {0, in.layers - 1});
    for (auto i = static_cast<std::size_t>(in.layers - shared); i < plans.size(); ++i) {
        plans[i].shares_keys = true;
    }
}

}  // namespace

std::vector<LayerPlan> plan_layers(const Keys& keys, std::int64_t layers, std::int64_t hidden) {
    const PlanReading in{keys, layers, hidden};
    Plans plans(static_cast<std::size_t>(layers));
    plan_mixers(in, plans);
    plan_feed_forwards(in, plans);
    plan_heads(in, plans);
    plan_sharing(in, plans);
    return plans;
}

}  // namespace assay::model
