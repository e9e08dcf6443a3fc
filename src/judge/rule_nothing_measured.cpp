#include <algorithm>

#include <fmt/format.h>

#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

std::vector<record::Finding> apply(const Evidence& evidence) {
    const auto& results = evidence.run.results;
    if (results.empty() && evidence.run.state == record::RunState::interrupted) return {};
    const auto is_measurement = [](const auto& result) { return result.probe != "selftest"; };
    // A selftest measures us: it counts only where nothing else was asked for.
    const bool asked = std::ranges::any_of(results, is_measurement);
    Lines lines;
    for (const auto& result : results) {
        if (asked && !is_measurement(result)) continue;
        if (result.status == record::Status::ok) return {};
        lines.add(result, fmt::format("{}: {}", record::name(result.status), result.reason));
    }
    if (lines.empty()) lines.add("no case was run");
    return lines.finding(
        kNothingMeasured.id, record::Severity::error,
        [](std::size_t) { return std::string("nothing was measured"); },
        "see why each case was skipped or failed; ask for types, sizes or a device that this "
        "machine has");
}

}  // namespace

const Rule kNothingMeasured{"nothing-measured", "every case was skipped or failed", apply};

}  // namespace assay::judge
