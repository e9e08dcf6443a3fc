#include <map>

#include <fmt/format.h>

#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

std::vector<record::Finding> apply(const Evidence& evidence) {
    std::map<std::string, std::size_t> missing;  // what and why -> cases
    for (const auto& result : evidence.run.results) {
        const auto& conditions = result.conditions;
        if (result.status != record::Status::ok) continue;
        // No source: the case wasn't sampled with telemetry at all.
        if (!conditions.clock_mhz && !conditions.clock_source.empty()) {
            ++missing[fmt::format("{} clock: {}", result.device, conditions.clock_source)];
        }
        if (!conditions.power_w && !conditions.power_source.empty()) {
            ++missing[fmt::format("{} power: {}", result.device, conditions.power_source)];
        }
    }
    Lines lines;
    for (const auto& [what, cases] : missing) {
        lines.add(fmt::format("{} ({})", what, counted(cases, "case")));
    }
    return lines.finding(
        kNoTelemetry.id, record::Severity::note,
        [](std::size_t) { return std::string("clock or power can't be read"); },
        "throttling may pass unseen: allow perf events (kernel.perf_event_paranoid) and reading "
        "RAPL, or run on the host instead of in a virtual machine or container");
}

}  // namespace

const Rule kNoTelemetry{"no-telemetry", "clock or power could not be read", apply};

}  // namespace assay::judge
