#include <iterator>

#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

constexpr double kTolerance = 1.01;  // of rounding

void look_at_memory(const Evidence& evidence, const std::string& device,
                    const catalog::Promises& promises, Lines& lines) {
    if (!promises.bandwidth.value) return;
    const double promised = *promises.bandwidth.value / 1e9;
    for (const auto* result : main_memory(evidence, device)) {
        const double rate = *measured(*result, "bandwidth");
        if (rate <= promised * kTolerance) continue;
        lines.add(*result, fmt::format("{} GB/s of at most {} GB/s: {}", format_number(rate),
                                       format_number(promised), promises.bandwidth.basis));
    }
}

void look_at_products(const Evidence& evidence, const std::string& device,
                      const catalog::Promises& promises, Lines& lines) {
    for (const auto& result : evidence.run.results) {
        const auto rate = measured(result, "throughput");
        if (!computes_products(result) || result.device != device || !rate) continue;
        const auto datasheet = promises.datasheet.find(result.what.at("dtype"));
        if (datasheet == promises.datasheet.end() || !datasheet->second.value) continue;
        const double promised = *datasheet->second.value / 1e12;
        if (*rate <= promised * kTolerance) continue;
        lines.add(result, fmt::format("{} TFLOP/s of at most {} TFLOP/s: {}", format_number(*rate),
                                      format_number(promised), datasheet->second.basis));
    }
}

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines of_host;
    Lines of_accelerators;
    Lines products;
    for (const auto& device : evidence.run.provenance.devices) {
        const auto found = evidence.promises.find(device.id);
        if (found == evidence.promises.end()) continue;
        auto& memory = device.kind == "cpu" ? of_host : of_accelerators;
        look_at_memory(evidence, device.id, found->second, memory);
        look_at_products(evidence, device.id, found->second, products);
    }
    const auto message = [](const char* whose) {
        return [whose](std::size_t n) {
            return fmt::format("{} above the {} datasheet", counted(n, "case"), whose);
        };
    };
    auto findings = of_host.finding(
        kAboveDatasheet.id, record::Severity::warning, message("memory's"),
        "the memory runs faster than its maker allows, or a cache answered: look at its speed in "
        "the firmware, and measure a larger --size");
    for (auto more :
         {of_accelerators.finding(kAboveDatasheet.id, record::Severity::warning,
                                  message("memory's"),
                                  "a cache answered, or the memory's clock is above the "
                                  "datasheet's: measure a larger --size, and look at `assay info`"),
          products.finding(kAboveDatasheet.id, record::Severity::warning, message("device's"),
                           "the clock was above the one that the datasheet counts with, or the "
                           "datasheet in data/accelerators.toml is wrong: look at the clock beside "
                           "the result, and quote the sustained protocol")}) {
        std::ranges::move(more, std::back_inserter(findings));
    }
    return findings;
}

}  // namespace

const Rule kAboveDatasheet{"above-datasheet",
                           "memory or products faster than the device is sold for", apply};

}  // namespace assay::judge
