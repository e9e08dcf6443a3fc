// What one stage of a layout holds: shared by the planner's sums and its words.
#pragma once

#include <algorithm>

#include "model/holdings.h"
#include "model/layout.h"
#include "model/memory.h"

namespace assay::model {

// Of a piece's bytes, what a device of its stage holds.
double share_of_device(const Piece& piece, const Layout& layout);
// Bytes of one request that a device of the layer's stage caches.
double cached_bytes(const CacheEntry& entry, const Layout& layout, const Use& use);

// Layers [first, last) of a stage.
struct LayerRange {
    std::size_t first, last;
};
LayerRange layers_of(const Holdings& holdings, const Layout& layout, int stage);

template <class Do>
void for_each_layer(const Holdings& holdings, const Layout& layout, int stage, Do apply) {
    const auto [first, last] = layers_of(holdings, layout, stage);
    for (std::size_t i = first; i < last; ++i) apply(holdings.layers[i]);
    if (stage == layout.pipeline - 1) {
        for (const auto& layer : holdings.predictors) apply(layer);
    }
}

template <class Do>
void for_each_piece(const Holdings& holdings, const Layout& layout, int stage, Do apply) {
    if (stage == 0) {
        for (const auto& piece : holdings.input) apply(piece);
    }
    for_each_layer(holdings, layout, stage, [&](const HeldLayer& layer) {
        for (const auto& piece : layer.pieces) apply(piece);
    });
    if (stage != layout.pipeline - 1) return;
    for (const auto& piece : holdings.output) apply(piece);
    if (layout.pipeline > 1) {
        for (const auto& piece : holdings.tied) apply(piece);
    }
}

}  // namespace assay::model
