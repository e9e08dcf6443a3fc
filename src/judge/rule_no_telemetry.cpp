#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

// Why a quantity could not be read -> in how many cases.
using Missing = std::map<std::string, std::size_t>;

void add(Missing& missing, const record::Result& result, std::optional<double> value,
         const std::string& source) {
    // Without a source the case wasn't sampled with telemetry at all.
    if (!value && !source.empty()) ++missing[fmt::format("{}: {}", result.device, source)];
}

std::vector<record::Finding> apply(const Evidence& evidence) {
    std::map<std::string, Missing> missing;  // by quantity
    for (const auto& result : evidence.run.results) {
        const auto& conditions = result.conditions;
        if (result.status != record::Status::ok) continue;
        add(missing["clock"], result, conditions.clock_mhz, conditions.clock_source);
        add(missing["power"], result, conditions.power_w, conditions.power_source);
    }
    std::vector<std::string> quantities;
    Lines lines;
    bool of_host = false;
    for (const auto& result : evidence.run.results) {
        const auto* facts = device_facts(evidence, result.device);
        of_host = of_host || facts == nullptr || facts->kind == "cpu";
    }
    for (const auto& [quantity, reasons] : missing) {
        if (!reasons.empty()) quantities.push_back(quantity);
        for (const auto& [reason, cases] : reasons) {
            lines.add(fmt::format("{} of {} ({})", quantity, reason, counted(cases, "case")));
        }
    }
    return lines.finding(
        kNoTelemetry.id, record::Severity::note,
        [&](std::size_t) { return join(quantities, " and ") + " can't be read"; },
        of_host ? "allow perf events (kernel.perf_event_paranoid) and reading RAPL, or run on the "
                  "host instead of in a virtual machine or container; without a clock, throttling "
                  "may pass unseen"
                : "let this process read the device's management library (NVML, AMD SMI), which a "
                  "container may hide; without a clock, throttling may pass unseen");
}

}  // namespace

const Rule kNoTelemetry{"no-telemetry", "clock or power could not be read", apply};

}  // namespace assay::judge
