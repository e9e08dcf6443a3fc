// The speed half of a plan: for each answer the rates it stands on, the batch asked for, the front
// over layouts and batches, and the best within the limits; between answers, who wins and where
// that changes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/break_even.h"
#include "plan/planning.h"
#include "plan/training_step.h"

namespace assay::plan {

struct SpeedQuestion {
    const model::Model& model;
    Load load = {};  // its batch is the one asked for
    Slo slo = {};
    Network network = {};
    std::map<std::string, double> prices =
        {};  // $ a device-hour, by the target's text or device word
    std::vector<catalog::Published> published = {};
    // Of each answer, what was measured on its device.
    std::vector<std::vector<Measured>> measured = {};
    // Training: sequences of a step; 0: four micro-batches for each stage.
    std::int64_t global_batch = 0;
    std::string flop_formula = "semianalysis";
    double failures = 3.8, restart_s = 600, checkpoint_s = 20;
};

struct SpeedAnswer {
    Rates rates;
    ComputeTypes types;
    std::string why;  // nothing is predicted, "" where it is

    // Of each layout that fits, in the placement's order, at the batch asked for. The first is the
    // best layout's.
    std::vector<Prediction> asked;
    std::vector<Prediction> all, front;
    std::optional<Prediction> picked;  // within the limits, the most tokens/s per device

    std::optional<TrainingPrediction> training;
    std::string flop_formula;  // that MFU is told by
    double mfu_peak = 0;       // FLOP/s of a device, of the type that most weights multiply in

    std::optional<double> per_hour;
};

struct SpeedPlan {
    Load load;
    Slo slo;
    std::vector<SpeedAnswer> answers;  // of the plan's answers, in order
    struct Rank {
        std::size_t answer;
        Prediction best;
        double yield;
    };
    Yield yield = Yield::per_device;
    std::vector<Rank> ranking;  // within the limits, the winner first
    std::vector<BreakEven> break_evens;

    // Limits were given, and an answer keeps none of them.
    bool slo_fails() const;
};

SpeedPlan make_speed_plan(const Plan& plan, const model::Holdings& holdings,
                          const SpeedQuestion& question);

// "mi355x=2.5,b200=4.25": $ a device-hour, by the words of --on without their count. Throws
// UsageError.
std::map<std::string, double> parse_hour_prices(std::string_view text,
                                                const std::vector<Target>& targets);

}  // namespace assay::plan
