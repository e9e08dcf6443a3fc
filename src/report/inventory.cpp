#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "catalog/promise.h"
#include "report/format.h"

namespace assay::report {

namespace {

constexpr std::size_t kNameWidth = 22;

std::string line(std::string_view name, const std::string& value) {
    if (value.empty()) return "";
    return fmt::format("  {:<{}} {}\n", name, kNameWidth, value);
}

std::string caches_text(const record::DeviceFacts& facts) {
    std::vector<std::string> words;
    for (const auto& cache : facts.caches) {
        words.push_back(fmt::format("L{} {} x {}", cache.level, cache.instances,
                                    format_bytes(static_cast<double>(cache.bytes))));
    }
    return join(words, ", ");
}

// A promise in the unit that people say it in. Its sources are in the JSON.
std::string promise_text(const catalog::Promise& promise) {
    if (!promise.value) return "unknown: " + promise.basis;
    const auto scaled = [&]() -> std::pair<double, std::string> {
        if (promise.unit == "FLOP/s") return {*promise.value / 1e12, "TFLOP/s"};
        if (promise.unit == "B/s") return {*promise.value / 1e9, "GB/s"};
        return {*promise.value, promise.unit};
    }();
    return fmt::format("{} {}, {}", format_number(scaled.first), scaled.second,
                       trim(std::string_view(promise.basis).substr(0, promise.basis.find(" ("))));
}

std::string device_text(const record::DeviceFacts& facts) {
    std::string text = fmt::format("{}: {}\n", facts.id, facts.name);
    text += line("vendor", facts.vendor);
    text += line("compute units",
                 fmt::format("{} usable of {}", facts.compute_units, facts.compute_units_total));
    text += line("memory", format_bytes(static_cast<double>(facts.memory_bytes)) + " usable");
    text += line("caches", caches_text(facts));
    for (const auto& node : facts.nodes) {
        text += line(fmt::format("NUMA node {}", node.index),
                     fmt::format("{} cores, {}", node.cores,
                                 format_bytes(static_cast<double>(node.memory_bytes))));
    }
    text += line("highest clock",
                 facts.max_clock_mhz
                     ? fmt::format("{:.0f} MHz ({})", *facts.max_clock_mhz, facts.max_clock_source)
                     : facts.max_clock_source);
    text += line("virtual machine", facts.virtual_machine ? "yes" : "no");
    text += line("features", join(facts.features, " "));
    for (const auto& [name, value] : facts.facts) text += line(name, value);

    const auto promises = catalog::promises(facts);
    text += line("in the catalog", promises.model.empty() ? "no" : promises.model);
    for (const auto& [type, promise] : promises.peak) {
        text += line(type + " peak", promise_text(promise));
    }
    for (const auto& [type, promise] : promises.flop_per_cycle) {
        if (promise.value) text += line(type + " per cycle", promise_text(promise));
    }
    text += line("memory bandwidth", promise_text(promises.bandwidth));
    return text;
}

}  // namespace

std::string inventory_text(const record::Run& run) {
    const auto& p = run.provenance;
    std::string text = "system\n";
    text += line("host", p.host);
    text += line("system", p.system);
    text += line("container", p.container);
    text += line("assay", p.program_version + " (" + p.program_build + ")");
    for (const auto& facts : p.devices) text += "\n" + device_text(facts);
    if (!p.software.empty()) text += "\nlibraries\n";
    for (const auto& software : p.software) {
        text += line(software.name, fmt::format("{} {} {}", software.version,
                                                software.software_class, software.file));
    }
    if (!p.settings.empty()) text += "\nsettings that can change a number\n";
    for (const auto& [name, value] : p.settings) {
        text += fmt::format("  {} = {}\n", name, value);
    }
    return text;
}

}  // namespace assay::report
