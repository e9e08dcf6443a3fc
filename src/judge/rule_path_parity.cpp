#include <algorithm>

#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

// More than layouts and epilogues cost where a library takes the same path for all.
constexpr double kSlower = 1.05;
constexpr std::string_view kRatio = "time ratio of ";

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        // Another layout is another product.
        if (!result.what.has("parity") || result.what.at("parity") != "entries") continue;
        std::vector<const record::Metric*> ratios;
        for (const auto& metric : result.metrics) {
            if (metric.name.starts_with(kRatio)) ratios.push_back(&metric);
        }
        if (ratios.empty()) continue;
        const auto* best = *std::ranges::min_element(ratios, {}, &record::Metric::value);
        for (const auto* ratio : ratios) {
            const bool known = ratio->interval && ratio->trustworthy.value_or(false);
            if (!known || !(ratio->interval->first > kSlower)) continue;
            lines.add(result,
                      fmt::format("{} takes {} ({} to {}) times as long as {}",
                                  ratio->name.substr(kRatio.size()), format_number(ratio->value),
                                  format_number(ratio->interval->first),
                                  format_number(ratio->interval->second),
                                  best->name.substr(kRatio.size())));
        }
    }
    return lines.finding(
        kPathParity.id, record::Severity::warning,
        [](std::size_t n) {
            return counted(n, "path") + " slower than another to the same product";
        },
        "call the faster path; for a bias, compare adding it in a kernel of its own");
}

}  // namespace

const Rule kPathParity{"path-parity", "a path to a product takes longer than another", apply};

}  // namespace assay::judge
