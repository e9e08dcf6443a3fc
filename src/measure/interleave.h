// Alternatives compared round by round, in one power state. Nothing measured one after the other
// is ever called faster.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/sampler.h"
#include "stats/verdict.h"

namespace assay::measure {

struct Alternative {
    std::string name;
    std::vector<double> seconds;  // one value a round: the median of the round's samples
    stats::MedianEstimate ratio;  // this one's time over the first one's, by round
    stats::Verdict verdict = stats::Verdict::Ambiguous;  // against the first
};

struct InterleaveOptions {
    double margin = 0.015;
    double round_s = 0.05;  // time one alternative gets in a round, at least one call
    std::size_t min_rounds = 20;
    std::size_t max_rounds = 1000;
    double limit_s = 10;
};

// Runs every subject once a round, in an order that changes from round to round, until no verdict
// is Ambiguous (and min_rounds are there) or a limit comes. The first subject is the base.
std::vector<Alternative> interleave(std::span<Subject* const> subjects, Clock& clock,
                                    const InterleaveOptions& options);

}  // namespace assay::measure
