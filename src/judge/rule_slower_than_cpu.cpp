#include <map>
#include <string>

#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

constexpr const char* kCpu = "cpu";

std::vector<record::Finding> apply(const Evidence& evidence) {
    std::map<std::string, const record::Result*> of_cpu;  // by probe, protocol and case
    const auto key = [](const record::Result& result) {
        return fmt::format("{} {} {}", result.probe, result.conditions.protocol,
                           result.what.text());
    };
    for (const auto& result : evidence.run.results) {
        if (computes_products(result) && result.device == kCpu && measured(result, "throughput")) {
            of_cpu[key(result)] = &result;
        }
    }
    Lines lines;
    for (const auto& result : evidence.run.results) {
        const auto rate = measured(result, "throughput");
        if (!computes_products(result) || result.device == kCpu || !rate) continue;
        const auto found = of_cpu.find(key(result));
        if (found == of_cpu.end()) continue;
        const double host = *measured(*found->second, "throughput");
        if (*rate >= host) continue;
        lines.add(result, fmt::format("{} TFLOP/s, and this host's CPU {}", format_number(*rate),
                                      format_number(host)));
    }
    return lines.finding(
        kSlowerThanCpu.id, record::Severity::warning,
        [](std::size_t n) {
            return counted(n, "case") + " slower on an accelerator than on this host's CPU";
        },
        "a generic or emulated kernel ran (path and algorithm in the JSON), or the work is too "
        "small for the device: give it more at a time, or leave it to the CPU");
}

}  // namespace

const Rule kSlowerThanCpu{"slower-than-cpu",
                          "an accelerator is slower than the host's CPU at the same case", apply};

}  // namespace assay::judge
