// What sweeps of a size have in common, whatever is computed: their range, and the cliffs in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/result.h"
#include "stats/ratio.h"

namespace assay::probes {

// The sizes of `range`, a part of `sweep`. Throws UsageError with the hint for fewer than two, for
// sizes that don't rise, and for those outside of 1 to 2^31 - 1.
std::vector<std::int64_t> parse_swept_sizes(std::string_view range, std::string_view sweep,
                                            const std::string& hint);

// Whether the interval of the ratio by round lies wholly above 1 + the verdict's margin; not with
// fewer than six rounds, nor where their numbers differ.
bool surely_longer(const std::vector<double>& shorter, const std::vector<double>& longer);

struct Cliff {
    std::size_t at, pad_to;
    stats::Ratio ratio;  // time at this size over the time at the larger one
};
// Of sizes in ascending order, by the seconds of each round of each: those with a larger one that
// surely takes less, each with the larger one that takes the least.
std::vector<Cliff> find_cliffs(const std::vector<std::vector<double>>& seconds);

// "cliffs" and "largest padding gain" of so many ratios; neither is a number where the sweep has
// too few rounds. `rounds` is those of a size, `samples` those of all.
std::vector<record::Metric> cliff_metrics(const std::vector<stats::Ratio>& cliffs,
                                          std::size_t rounds, std::size_t samples,
                                          std::string definition, std::string worst_definition);

}  // namespace assay::probes
