// The fastest of many ways to do one thing, found under the protocol that it will be used in: at a
// power limit an algorithm wins by energy, in a burst by cycles.
//
// Each way is opened, timed by a few calls, and dropped where those take 1.3 times the best's: more
// than power states differ by. The others run round by round, each a short while, in an order that
// changes; what all share in a round (clock, heat) cancels. After each round those are dropped that
// are slower than the leader by more than their noise tells, or, where the budget won't do for
// enough rounds of all, the slower half.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "measure/clock.h"
#include "measure/interleave.h"
#include "measure/protocol.h"
#include "measure/subject.h"

namespace assay::measure {

struct TuneOptions {
    double budget_s = 5;  // host time, without the protocol's settling
    // Share of the budget by which the last few candidates, the closest, may overrun it.
    double overrun = 0.4;
};

struct Trial {
    double seconds = 0;  // the median over rounds of one call's time; NaN when never timed
    std::size_t rounds = 0;
    std::string failure;  // the error that ended it, when one did
};

struct Tuning {
    std::size_t winner = 0;     // meaningless when tried() is 0
    std::vector<Trial> trials;  // one a candidate
    double seconds = 0;         // host time it took
    double settle_s = 0;        // of it for warming up and settling

    std::size_t tried() const;  // candidates that were timed
};

// Opens a candidate; it is destroyed when dropped. Null: it mustn't be used. What opening or
// running one throws drops it, except DeviceLost and Interrupted.
using OpenCandidate = std::function<std::unique_ptr<Subject>(std::size_t candidate)>;

// Candidates in the order in which they are likely to win: where the budget won't do for a look at
// each, the last ones are never tried. An interruption ends it with the leader so far.
Tuning tune(std::size_t candidates, const OpenCandidate& open, Clock& clock,
            const Protocol& protocol, const TuneOptions& options = {});

// Alternatives compared in the power state of the protocol, caches cleared where it clears them,
// for at most `limit_s`. Where it has bursts, one holds some rounds.
std::vector<Alternative> interleave_under(const Protocol& protocol,
                                          std::span<Subject* const> subjects, Clock& clock,
                                          double limit_s);

}  // namespace assay::measure
