// Whether a model fits devices under a layout and a budget, and how much more would.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/memory.h"
#include "plan/budget.h"

namespace assay::plan {

struct Fit {
    model::Layout layout;
    std::int64_t devices = 1;
    int stage = 0;         // whose devices are nearest to their limit: what follows is of these
    model::Memory memory;  // at the context and batch asked for
    double room = 0;       // that the budget leaves for what grows with the batch; may be negative
    double missing = 0;    // bytes a device, 0 where it fits
    bool fits() const { return missing == 0; }

    // Requests of the context asked for, over all replicas; in training sequences of one replica's
    // micro-batch. None: nothing grows with it.
    std::optional<std::int64_t> largest_batch;
    // Tokens at the batch asked for, whatever positions the model was made for. 0: not one. None:
    // nothing grows with it.
    std::optional<std::int64_t> largest_context;
    // Tokens of cache, over all replicas: room over what a token of such a request takes of it.
    std::optional<double> cache_tokens;
};

// The budget's room is for the cache and states; in training, for the activations.
Fit fit(const model::Holdings& holdings, const model::Layout& layout, const model::Use& use,
        const Budget& budget, double capacity);
// Fit::missing alone, sooner.
double missing_bytes(const model::Holdings& holdings, const model::Layout& layout,
                     const model::Use& use, const Budget& budget, double capacity);

}  // namespace assay::plan
