#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

// Good machines deliver 0.75 to 0.9 of what their channels carry, those with half of the modules
// at most 0.45.
constexpr double kLeast = 0.55;
// Fewer cores can't keep a server's channels busy, whatever is in them.
constexpr int kCoresPerChannel = 2;

void look_at(const Evidence& evidence, const record::DeviceFacts& device, Lines& lines) {
    const auto found = evidence.promises.find(device.id);
    if (found == evidence.promises.end()) return;
    const auto& promises = found->second;
    if (promises.channels && promises.channels_populated &&
        *promises.channels_populated < *promises.channels) {
        lines.add(fmt::format("{}: {} of {} memory channels have a module", device.id,
                              *promises.channels_populated, *promises.channels));
    }
    const auto results = main_memory(evidence, device.id);
    if (!promises.bandwidth.value || results.empty()) return;
    if (device.compute_units < kCoresPerChannel * promises.channels.value_or(0)) return;
    const auto* best = *std::ranges::max_element(
        results, {}, [](const auto* result) { return *measured(*result, "bandwidth"); });
    const double rate = *measured(*best, "bandwidth");
    const double promised = *promises.bandwidth.value / 1e9;
    if (rate >= kLeast * promised) return;
    lines.add(*best, fmt::format("{} GB/s at best, {:.0f} % of {} GB/s: {}", format_number(rate),
                                 100 * rate / promised, format_number(promised),
                                 promises.bandwidth.basis));
}

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines of_host;
    Lines of_accelerators;
    for (const auto& device : evidence.run.provenance.devices) {
        look_at(evidence, device, device.kind == "cpu" ? of_host : of_accelerators);
    }
    auto findings = of_host.finding(
        kBelowPromise.id, record::Severity::warning,
        [](std::size_t) { return std::string("main memory is far below its promise"); },
        "put a module of the same kind into each channel, as the board's manual shows; if they "
        "are all there, look for a disabled channel or a reduced speed in the firmware, and for "
        "other work on the machine");
    auto more = of_accelerators.finding(
        kBelowPromise.id, record::Severity::warning,
        [](std::size_t) { return std::string("device memory is far below its promise"); },
        "look for other work on the device, for a memory clock below its highest, and for memory "
        "errors and row remapping in the vendor's tool");
    std::ranges::move(more, std::back_inserter(findings));
    return findings;
}

}  // namespace

const Rule kBelowPromise{"below-promise", "memory under 0.55 of its promise, or channels empty",
                         apply};

}  // namespace assay::judge
