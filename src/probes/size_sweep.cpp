#include "probes/size_sweep.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/range.h"
#include "stats/quantile.h"
#include "stats/ratio.h"
#include "stats/verdict.h"

namespace assay::probes {

std::vector<std::int64_t> parse_swept_sizes(std::string_view range, std::string_view sweep,
                                            const std::string& hint) {
    std::vector<std::int64_t> sizes;
    for (const auto size : parse_sizes(range)) {
        constexpr std::uint64_t kLargest = std::numeric_limits<std::int32_t>::max();
        if (size < 1 || size > kLargest) {
            throw UsageError(
                fmt::format("{} of sweep \"{}\" is outside 1 to {}", size, sweep, kLargest), hint);
        }
        sizes.push_back(static_cast<std::int64_t>(size));
    }
    if (sizes.size() < 2) throw UsageError(fmt::format("sweep \"{}\" has one size", sweep), hint);
    if (!std::ranges::is_sorted(sizes, std::ranges::less_equal{})) {
        throw UsageError(fmt::format("sweep \"{}\" has sizes that don't rise", sweep), hint);
    }
    return sizes;
}

bool surely_longer(const std::vector<double>& shorter, const std::vector<double>& longer) {
    if (shorter.size() < stats::kFewestRounds || shorter.size() != longer.size()) return false;
    return stats::ratio_of_rounds(shorter, longer).interval.lo > 1 + stats::kDefaultMargin;
}

std::vector<Cliff> find_cliffs(const std::vector<std::vector<double>>& seconds) {
    std::vector<Cliff> cliffs;
    if (seconds.empty() || seconds.front().empty()) return cliffs;
    std::size_t best = seconds.size() - 1;
    double least = stats::median(seconds[best]);
    for (std::size_t at = best; at-- > 0;) {
        const double time = stats::median(seconds[at]);
        if (time <= least) {
            best = at;
            least = time;
        } else if (surely_longer(seconds[best], seconds[at])) {
            cliffs.push_back({at, best, stats::ratio_of_rounds(seconds[best], seconds[at])});
        }
    }
    std::ranges::reverse(cliffs);
    return cliffs;
}

std::vector<record::Metric> cliff_metrics(const std::vector<stats::Ratio>& cliffs,
                                          std::size_t rounds, std::size_t samples,
                                          std::string definition, std::string worst_definition) {
    record::Metric count;
    count.name = "cliffs";
    count.unit = "sizes";
    count.better = record::Better::lower;
    count.definition = std::move(definition);
    count.value = static_cast<double>(cliffs.size());
    count.n = samples;
    auto worst = count;
    worst.name = "largest padding gain";
    worst.unit = "ratio";
    worst.definition = std::move(worst_definition);
    worst.value = 1;
    for (const auto& ratio : cliffs) worst.value = std::max(worst.value, ratio.value);
    if (rounds < stats::kFewestRounds) {  // nothing can be told
        count.value = worst.value = std::numeric_limits<double>::quiet_NaN();
    }
    return {count, worst};
}

}  // namespace assay::probes
