// Slower, faster or the same: one rule for every comparison.
#pragma once

#include <string_view>

#include "stats/interval.h"

namespace assay::stats {

enum class Verdict { Slower, Faster, Same, Ambiguous };

std::string_view name(Verdict verdict);  // "SLOWER", "FASTER", "SAME", "AMBIGUOUS"

// A change of time within it is of no interest: run-to-run noise of 0.7 % and four launches can't
// resolve 1 % (every second verdict would be AMBIGUOUS), and 2 % misses a quarter of 3 % changes.
inline constexpr double kDefaultMargin = 0.015;

// From the 95 % interval of (new time / old time). SLOWER if it lies wholly above 1 + margin,
// FASTER if wholly below 1 / (1 + margin), SAME if wholly between (the bounds included), else
// AMBIGUOUS. So exchanging old and new exchanges SLOWER and FASTER. An interval with a NaN is
// AMBIGUOUS.
Verdict verdict(Interval ratio_of_times, double margin = kDefaultMargin);

}  // namespace assay::stats
