#include <algorithm>

#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"
#include "stats/steadiness.h"

namespace assay::judge {

namespace {

std::string drift(const record::Result& result) {
    double largest = 0;
    for (const auto& launch : result.launches) {
        const auto time = launch.samples.find("time");
        if (time == launch.samples.end() || time->second.values.empty()) continue;
        const double drift = stats::steadiness(time->second.values).drift;
        if (std::abs(drift) > std::abs(largest)) largest = drift;
    }
    if (largest == 0) return "the times drift";
    return fmt::format("times {} by {} % from the first sample to the last",
                       largest > 0 ? "rose" : "fell", format_number(100 * std::abs(largest), 2));
}

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        if (result.status != record::Status::ok) continue;
        if (std::ranges::any_of(result.metrics, [](const auto& m) { return m.steady == false; })) {
            lines.add(result, drift(result));
        } else if (result.conditions.settled == false) {
            lines.add(result, "the warm-up ended before the rate was steady");
        }
    }
    return lines.finding(
        kNotSteady.id, record::Severity::warning,
        [](std::size_t n) { return counted(n, "case") + " drifted while measured"; },
        "stop other work on the machine, fix the frequency governor, let it warm up, and measure "
        "again with --protocol sustained and a longer --limit");
}

}  // namespace

const Rule kNotSteady{"not-steady", "the times drift, or never settled", apply};

}  // namespace assay::judge
