#include "judge/rules.h"

#include <algorithm>
#include <array>

namespace assay::judge {

std::span<const Rule> rules() {
    static const std::array kAll{
        kNothingMeasured, kWrongAnswer, kWrongAlgorithm, kMemoryKept,        kSelftestFailed,
        kFailedCase,      kNoValue,     kAbovePeak,      kAboveDatasheet,    kBelowPromise,
        kBusyDevice,      kThrottled,   kNotSteady,      kUntrustedInterval, kFallback,
        kPathParity,      kSizeCliff,   kBackwardSlow,   kSlowerThanCpu,     kNoTelemetry,
    };
    return kAll;
}

std::vector<record::Finding> find(const Evidence& evidence) {
    std::vector<record::Finding> findings;
    for (const auto& rule : rules()) {
        auto found = rule.apply(evidence);
        std::ranges::move(found, std::back_inserter(findings));
    }
    std::ranges::stable_sort(findings, std::ranges::greater{}, &record::Finding::severity);
    return findings;
}

}  // namespace assay::judge
