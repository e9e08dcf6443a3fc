#include "stats/verdict.h"

#include <cmath>

namespace assay::stats {

std::string_view name(Verdict verdict) {
    switch (verdict) {
        case Verdict::Slower:
            return "SLOWER";
        case Verdict::Faster:
            return "FASTER";
        case Verdict::Same:
            return "SAME";
        case Verdict::Ambiguous:
            return "AMBIGUOUS";
    }
    return "unknown";
}

Verdict verdict(Interval ratio_of_times, double margin) {
    if (std::isnan(ratio_of_times.lo) || std::isnan(ratio_of_times.hi)) return Verdict::Ambiguous;
    const double above = 1.0 + margin;
    const double below = 1.0 / above;
    if (ratio_of_times.lo > above) return Verdict::Slower;
    if (ratio_of_times.hi < below) return Verdict::Faster;
    if (ratio_of_times.lo >= below && ratio_of_times.hi <= above) return Verdict::Same;
    return Verdict::Ambiguous;
}

}  // namespace assay::stats
