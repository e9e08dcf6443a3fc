// Which layouts a number of devices allows, and the smallest number that holds a model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/fit.h"
#include "plan/target.h"

namespace assay::plan {

// Widths that the user fixed.
struct Widths {
    std::optional<int> tensor, pipeline, expert, data, context;
    bool padded =
        false;  // take layouts that add zeros: heads, experts or columns that don't divide

    bool any() const { return tensor || pipeline || expert || data || context; }
};

struct Question {
    const model::Transformer& transformer;
    const model::Holdings& holdings;
    model::Use use;
    Budget budget;
    Widths widths;
};

struct Placement {
    std::int64_t devices = 0, nodes = 0;
    // The layout that engines start with of those that fit; where none does, the one that misses
    // least. Inference: fewest replicas, then fewest stages, then experts divided, not spread:
    // tensor parallel within a domain, stages across. Training: fewest devices a replica.
    Fit best;
    std::vector<Fit> layouts;  // all that the dimensions allow, in that order
    // Where a count was named and its figures differ: "fits with 288.4 GB (SOURCE)".
    std::vector<std::string> notes;
};

// All layouts of that many devices: tensor parallel within one domain unless the user fixed it,
// and only those that every dimension allows. Throws UsageError where the fixed widths don't make
// that number, or name the dimension that none divides.
std::vector<model::Layout> layouts_of(const Question& question, std::int64_t devices,
                                      std::int64_t domain);

// The count that the target names, else the smallest that fits: a divisor of a node's devices, or
// whole nodes. Where none fits: the largest tried.
Placement place(const Question& question, const Target& target);

// Devices whose whole memory is as large as what must be held once: weights, in training gradients
// and optimizer states too. No layout needs fewer.
std::int64_t least_devices(const Question& question, double capacity);

}  // namespace assay::plan
