// How a number is made (docs/method.md gives the reasons and sources).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::measure {

struct Protocol {
    std::string name;

    // Warm-up.
    double warmup_s = 0;  // at least this long
    bool settle = false;  // until three windows' medians agree
    double settle_window_s = 0.5;
    double settle_tolerance = 0.01;
    double settle_limit_s = 20;

    // Sampling.
    std::size_t burst_samples = 0;  // at most this many a burst; 0: no bursts, back to back
    double burst_s = 0;             // and this long, or one sample
    double idle_s = 0;              // idle before each burst
    bool clear_between = false;     // clear caches before each sample
    double fixed_s = 0;             // sample for this long instead of by interval, when > 0

    // Stopping.
    double target_half_width = 0.005;  // of the 95 % interval, relative to the median
    std::size_t min_samples = 100;
    std::size_t min_effective = 100;
    std::size_t max_samples = 12000;
    double limit_s = 10;  // sampling, without the settling

    bool operator==(const Protocol&) const = default;
};

// Bursts of at most 20 calls or 30 ms, 0.25 s idle before each. (20 samples, where a call is too
// short for the timer and a sample holds several.)
Protocol boost();
// Back to back until steady (20 s at most), then sampled without a pause.
Protocol sustained();
// 30 ms warm-up, 200 ms and at least 100 samples, caches cleared between, median: the protocol of
// the source article.
Protocol article();

// Throws UsageError for an unknown name, listing those known.
Protocol parse_protocol(std::string_view name);
std::vector<std::string> protocol_names();

}  // namespace assay::measure
