#include <cmath>

#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

bool is_speed(const record::Metric& metric) {
    return metric.name == "throughput" || metric.name == "bandwidth" || metric.name == "time";
}

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        if (result.status != record::Status::ok) continue;
        for (const auto& metric : result.metrics) {
            if (std::isnan(metric.value)) {
                lines.add(result, metric.name + " has no value");
            } else if (is_speed(metric) && !(metric.value > 0 && std::isfinite(metric.value))) {
                lines.add(result, fmt::format("{} is {} {}", metric.name,
                                              format_number(metric.value), metric.unit));
            }
        }
    }
    return lines.finding(
        kNoValue.id, record::Severity::error,
        [](std::size_t n) { return counted(n, "metric") + " without a meaning"; },
        "run the case again; if it stays so, the timer or the probe is broken: `assay selftest`");
}

}  // namespace

const Rule kNoValue{"no-value", "a metric is no number, or a speed isn't above zero", apply};

}  // namespace assay::judge
