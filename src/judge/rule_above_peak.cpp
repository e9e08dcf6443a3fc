#include <algorithm>

#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

constexpr double kTolerance = 1.01;  // of clocks that are read and of rounding

// What the highest clock, known or seen, allows in TFLOP/s.
std::optional<double> allowed(const catalog::Promises& promises, const record::DeviceFacts& facts,
                              const record::Result& result) {
    const auto per_cycle = promises.flop_per_cycle.find(result.what.at("dtype"));
    if (per_cycle == promises.flop_per_cycle.end()) return std::nullopt;
    const double mhz =
        std::max(facts.max_clock_mhz.value_or(0), highest_clock_mhz(result).value_or(0));
    if (!per_cycle->second.value || mhz <= 0) return std::nullopt;
    return *per_cycle->second.value * mhz * 1e6 / 1e12;
}

void look_at(const Evidence& evidence, const record::DeviceFacts& device, Lines& lines) {
    const auto found = evidence.promises.find(device.id);
    if (found == evidence.promises.end()) return;
    const auto& promises = found->second;
    for (const auto& result : evidence.run.results) {
        const auto rate = measured(result, "throughput");
        if (!computes_products(result) || result.device != device.id || !rate) continue;
        const auto peak = allowed(promises, device, result);
        if (!peak || *rate <= *peak * kTolerance) continue;
        lines.add(result, fmt::format("{} TFLOP/s, and the highest clock allows {}",
                                      format_number(*rate), format_number(*peak)));
    }
    if (!promises.bandwidth_peak.value) return;
    const double peak = *promises.bandwidth_peak.value / 1e9;
    for (const auto* result : main_memory(evidence, device.id)) {
        const double rate = *measured(*result, "bandwidth");
        if (rate <= peak * kTolerance) continue;
        lines.add(*result, fmt::format("{} GB/s, and the memory's clock allows {}",
                                       format_number(rate), format_number(peak)));
    }
}

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    std::vector<std::string> files;
    for (const auto& device : evidence.run.provenance.devices) {
        Lines of_device;
        look_at(evidence, device, of_device);
        if (of_device.empty()) continue;
        lines.append(of_device);
        const auto file = catalog::facts_file(device.kind);
        if (std::ranges::find(files, file) == files.end()) files.push_back(file);
    }
    return lines.finding(
        kAbovePeak.id, record::Severity::error,
        [](std::size_t n) { return counted(n, "case") + " faster than the clock allows"; },
        fmt::format(
            "the number is wrong, or the {} does more than {} says: run `assay selftest`, "
            "compare the clock with another tool, and report it with `assay info`",
            files == std::vector<std::string>{"data/processors.toml"} ? "processor" : "device",
            fmt::join(files, " or ")));
}

}  // namespace

const Rule kAbovePeak{"above-peak", "a product or memory faster than the highest clock allows",
                      apply};

}  // namespace assay::judge
