// What a difference in time is made of: clock, cycles, gaps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/limit.h"
#include "record/run.h"

namespace assay::judge {

// Factors whose product is the ratio of the median times of one call, new over old. With t the
// median time, g the gap (what an event between two calls takes: settings["gap_s"]), c the median
// of the samples' (t_i - g) x clock_i:
//     cycles = c_new / c_old
//     clock  = ((t - g) / c)_new / ((t - g) / c)_old, above 1 where the new clock is lower
//     gaps   = (t / (t - g))_new / (t / (t - g))_old
struct Waterfall {
    const record::Result* result = nullptr;  // the new one
    std::string of, over;                    // "sustained" and "boost", "tuned" and "heuristic"
    double ratio = 1;
    double clock = 1;
    Limit cause = Limit::none;  // of the lower clock; none where the clocks are within 1 %
    double cycles = 1;
    double gaps = 1;
    bool gaps_known = false;  // both results have settings["gap_s"]; else gaps are taken as 0
};

// None unless every launch of both has as many samples "clock_mhz" (MHz) as "time" (s), positive
// and finite, and no gap is as long as its call. `of` and `over` stay empty.
std::optional<Waterfall> waterfall(const record::Result& old_result,
                                   const record::Result& new_result);

// Of the run's results of one device: sustained over boost of the same case; and, under one
// protocol, each "algorithm" of a case over its heuristic, or its first where there is none.
std::vector<Waterfall> waterfalls(const record::Run& run);

}  // namespace assay::judge
