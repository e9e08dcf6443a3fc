#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

constexpr double kTolerance = 1.01;  // of rounding

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& [device, promises] : evidence.promises) {
        if (!promises.bandwidth.value) continue;
        const double promised = *promises.bandwidth.value / 1e9;
        for (const auto* result : main_memory(evidence, device)) {
            const double rate = *measured(*result, "bandwidth");
            if (rate <= promised * kTolerance) continue;
            lines.add(*result, fmt::format("{} GB/s of at most {} GB/s: {}", format_number(rate),
                                           format_number(promised), promises.bandwidth.basis));
        }
    }
    return lines.finding(
        kAboveDatasheet.id, record::Severity::warning,
        [](std::size_t n) { return counted(n, "case") + " above the memory's datasheet"; },
        "the memory runs faster than its maker allows, or a cache answered: look at its speed in "
        "the firmware, and measure a larger --size");
}

}  // namespace

const Rule kAboveDatasheet{"above-datasheet", "memory faster than its channels are sold for",
                           apply};

}  // namespace assay::judge
