#include <algorithm>

#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

constexpr double kTolerance = 1.01;  // of clocks that are read and of rounding

// What the highest clock, known or seen, allows in TFLOP/s.
std::optional<double> allowed(const Evidence& evidence, const record::Result& result) {
    const auto promises = evidence.promises.find(result.device);
    const auto* facts = device_facts(evidence, result.device);
    if (promises == evidence.promises.end() || facts == nullptr) return std::nullopt;
    const auto per_cycle = promises->second.flop_per_cycle.find(result.what.at("dtype"));
    if (per_cycle == promises->second.flop_per_cycle.end()) return std::nullopt;
    const double mhz =
        std::max(facts->max_clock_mhz.value_or(0), highest_clock_mhz(result).value_or(0));
    if (!per_cycle->second.value || mhz <= 0) return std::nullopt;
    return *per_cycle->second.value * mhz * 1e6 / 1e12;
}

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        const auto rate = measured(result, "throughput");
        if (result.probe != "gemm" || !rate) continue;
        const auto peak = allowed(evidence, result);
        if (!peak || *rate <= *peak * kTolerance) continue;
        lines.add(result, fmt::format("{} TFLOP/s, and the highest clock allows {}",
                                      format_number(*rate), format_number(*peak)));
    }
    return lines.finding(
        kAbovePeak.id, record::Severity::error,
        [](std::size_t n) { return counted(n, "case") + " faster than the clock allows"; },
        "the number is wrong, or the processor does more than data/processors.toml says: run "
        "`assay selftest`, compare the clock with another tool, and report it with `assay info`");
}

}  // namespace

const Rule kAbovePeak{"above-peak", "a product faster than the highest clock allows", apply};

}  // namespace assay::judge
