// A plan: one model, asked of several kinds and numbers of devices. Each answer says whether it
// fits; what else is known of a placement stands beside `placement`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint.h"
#include "model/counts.h"
#include "model/division.h"
#include "model/flop.h"
#include "plan/placement.h"

namespace assay::plan {

struct Answer {
    Target target;
    Placement placement;
    std::int64_t least_devices = 0;  // below which no layout holds it
    // Bytes a device if each held the same part, and nothing twice.
    double weight_share = 0;
    std::vector<model::Division> divisions;  // of the best layout's fullest stage
    std::vector<model::HeadsOfRank> heads;   // of the best layout
    std::string why;                         // it doesn't fit, in bytes; "" where it does
    std::vector<std::string> notes;

    bool fits() const { return placement.best.fits(); }
};

// FLOP of one token in training, by one of the formulas that are published with.
struct FlopFigure {
    std::string_view formula, text, source;
    model::FlopPerToken flop;
};

struct ModelFacts {
    std::string name, architecture;
    std::string stored_as = {};  // the weights' types: "bf16", "compressed-tensors mxfp4"
    model::Counts counts = {};
    std::vector<model::Extra> extras = {};  // beside the language model
    std::vector<FlopFigure> flop = {};      // at the context asked for
    std::int64_t positions = 0;
    double parameters = 0;              // that are held
    double bytes = 0;                   // that are held, once
    double kv_per_token = 0;            // bytes, of layers whose cache grows with the context
    double kv_of_request = 0;           // bytes at the context asked for
    double kv_of_windows = 0;           // the most that layers with a window keep of a request
    double state_of_request = 0;        // bytes
    std::vector<std::string> left_out;  // by the options: "vision tower, 460730096 parameters"
    std::vector<std::string> unknown, assumed;
    // The files beside the config, where there are any.
    std::string checkpoint;  // which
    std::optional<model::Comparison> files = {};
};

struct Plan {
    ModelFacts model;
    model::Use use;
    Budget budget;
    std::vector<Answer> answers;
    std::vector<std::string> notes;

    // A named count that can't hold it: exit status 3.
    bool named_count_fails() const;
};

// Throws UsageError as layouts_of, for a context or batch below 1, and for a workspace that leaves
// nothing of a device's budget.
Plan make_plan(const Question& question, const std::vector<Target>& targets);

// "weights 195 GB + ... = 199 GB on each device; of-total:0.9 of 180 GB leaves 162 GB: 37 GB
// short", in the terms of the use.
std::string why_not(const Fit& fit, const model::Use& use, const Budget& budget, double capacity);

}  // namespace assay::plan
