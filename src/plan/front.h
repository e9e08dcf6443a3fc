// What a number of devices can do: predictions over layouts and batches, those that no other beats,
// and the best one within limits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/budget.h"
#include "plan/fit.h"
#include "plan/serving.h"

namespace assay::plan {

// Limits that a service keeps to; by the middle of a prediction.
struct Slo {
    std::optional<double> ttft_s, tpot_s;

    bool holds(const Prediction& prediction) const;
    std::string text() const;  // "ttft=2s,tpot=20ms"
};
// Throws UsageError for an unknown limit or one that isn't above 0.
Slo parse_slo(std::string_view text);

// Every layout of `fits` that fits, at batches that double from one request a replica to the
// largest that fits with the load's whole context, and that one too. At most 2,048 requests a
// replica.
std::vector<Prediction> sweep(const StepModel& model, const std::vector<Fit>& fits,
                              const Budget& budget, double capacity, const Load& load,
                              const Rates& rates);

// Of them those that none other beats in both tokens/s per user and tokens/s per device, by user
// speed falling.
std::vector<Prediction> pareto_front(std::vector<Prediction> predictions);

// The most tokens/s per device within the limits; null where none keeps them.
const Prediction* best_within(const std::vector<Prediction>& predictions, const Slo& slo);

}  // namespace assay::plan
