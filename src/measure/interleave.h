// Alternatives compared round by round, in one power state. Nothing measured one after the other
// is ever called faster.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "measure/clock.h"
#include "measure/subject.h"
#include "stats/ratio.h"
#include "stats/verdict.h"

namespace assay::measure {

struct Alternative {
    std::string name;
    std::vector<double> seconds;  // one value a round: the median of the round's samples
    stats::Ratio ratio;           // this one's time over the first one's, by round
    stats::Verdict verdict = stats::Verdict::Ambiguous;  // against the first
};

struct InterleaveOptions {
    double margin = stats::kDefaultMargin;
    double round_s = 0.05;              // time one alternative gets in a round, at least one call
    std::size_t most_samples = 10'000;  // of one alternative in a round
    double idle_s = 0;                  // idle before each burst
    // A burst is as many rounds as take at most this many samples and this long, all alternatives
    // together, or one round. With more than one, an uncounted sample wakes the device first.
    std::size_t burst_samples = 0;
    double burst_s = 0;
    bool clear_between = false;  // clear caches before each sample
    std::size_t min_rounds = 20;
    std::size_t max_rounds = 1000;
    double limit_s = 10;
};

// Runs every subject once a round, until no verdict is Ambiguous or a limit comes: looks at
// min_rounds, and then each time their number has grown by half, since looking after every round
// would wait for luck (stats/stop_rule.h). The first subject is the base; its ratio is 1.
//
// Every second round runs the order of the one before it backwards, so that a steady drift favours
// nobody, and every two rounds another subject starts. One round before the first warms up and is
// thrown away. The limit counts from the start; at least one round is taken, and no round begins
// that would end beyond it. An interruption ends with the complete rounds, which may be none: then
// every verdict is Ambiguous. Throws Error when a time is 0, negative or not finite.
std::vector<Alternative> interleave(std::span<Subject* const> subjects, Clock& clock,
                                    const InterleaveOptions& options);

}  // namespace assay::measure
