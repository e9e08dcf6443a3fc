// The two halves of a layer's plan, each read from keys of its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "model/config_keys.h"
#include "model/layer_plan.h"

namespace assay::model {

struct PlanReading {
    const Keys& keys;
    std::int64_t layers, hidden;

    // A list may go on for the multi-token-prediction layers, but not end early.
    template <class List>
    void expect_length(std::string_view name, const List& list) const {
        if (static_cast<std::int64_t>(list.size()) < layers) {
            keys.fail(name, fmt::format("lists {} layers of {}", list.size(), layers));
        }
    }
};

// Sets each layer's mixer and its window; where the keys say so, which part of it is left out.
void plan_mixers(const PlanReading& in, std::vector<LayerPlan>& plans);
// Sets which layers are routed.
void plan_feed_forwards(const PlanReading& in, std::vector<LayerPlan>& plans);

}  // namespace assay::model
