// Where the winner of a comparison changes: at which price of a device-hour, at which limit of the
// time per token, at which acceptance length.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/front.h"

namespace assay::plan {

// One answer in a comparison: its configurations, and what an hour of its devices costs.
struct Candidate {
    std::string name;  // "8 x MI355X"
    std::vector<Prediction> predictions;
    std::optional<double> per_hour;  // $ a device-hour
};

// Output tokens/s per $/h where every candidate has a price, else per device.
enum class Yield { per_dollar, per_device };
Yield yield_of(const std::vector<Candidate>& candidates);
double yield(const Prediction& prediction, const Candidate& candidate, Yield by);

// The winner and where it loses. Of prices: each other candidate's price at which it draws level
// with the winner, all else as it is.
struct BreakEven {
    std::string what;    // "price of 8 x MI355X", "TPOT limit", "acceptance length of 16 x B200"
    double value = 0;    // where it changes
    std::string unit;    // "$/h", "s", "tokens a step"
    std::string before;  // who wins below it
    std::string after;   // who wins above it
};

// The best configuration of each within `slo`, the winner first; those with none are left out.
struct Standing {
    const Candidate* candidate;
    const Prediction* best;
    double yield;
};
std::vector<Standing> standings(const std::vector<Candidate>& candidates, const Slo& slo);

// Of prices; none where a candidate has no price.
std::vector<BreakEven> price_break_evens(const std::vector<Candidate>& candidates, const Slo& slo);
// Of the limit on TPOT, from the shortest that any configuration keeps to the longest. A lead of
// less than kClearLead, which no prediction here tells from none, changes nothing.
inline constexpr double kClearLead = 0.05;
std::vector<BreakEven> limit_break_evens(const std::vector<Candidate>& candidates, const Slo& slo);
// Of the acceptance length of each candidate that speculates: where, at its best configuration, it
// would draw level with the winner, or as the winner with the second. Decode speed is proportional
// to the acceptance length; lengths below 1 or above drafts + 1 don't exist and aren't told.
std::vector<BreakEven> acceptance_break_evens(const std::vector<Candidate>& candidates,
                                              const Slo& slo);

}  // namespace assay::plan
