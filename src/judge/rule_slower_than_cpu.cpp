#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

constexpr const char* kSpeedUp = "speed-up over this host's CPU";

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        const auto speed_up = measured(result, kSpeedUp);
        if (!speed_up) continue;
        const auto& metric = *result.metric(kSpeedUp);
        if (metric.trustworthy == false || !metric.interval || !(metric.interval->second < 1)) {
            continue;
        }
        lines.add(result, fmt::format("{} times the speed of this host's CPU",
                                      format_number(*speed_up, 3)));
    }
    return lines.finding(
        kSlowerThanCpu.id, record::Severity::warning,
        [](std::size_t n) {
            return counted(n, "case") + " slower on an accelerator than on this host's CPU";
        },
        "a generic or emulated kernel ran (path and algorithm in the JSON), or the work is too "
        "small for the device, where a kernel takes microseconds to begin and to end and launching "
        "it, which isn't timed here, as long again: give it more at a time, or leave it to the "
        "CPU");
}

}  // namespace

const Rule kSlowerThanCpu{"slower-than-cpu",
                          "an accelerator is slower than this host's CPU at the same work", apply};

}  // namespace assay::judge
