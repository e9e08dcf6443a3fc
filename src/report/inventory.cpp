#include <algorithm>

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

// Where sources differ, all of them: the first is the one that counts.
std::string figures_text(const catalog::Figures& figures, double scale, const char* unit) {
    if (figures.empty()) return "unknown: no source in the catalog";
    std::vector<std::string> words;
    for (const auto& figure : figures) {
        words.push_back(fmt::format("{} {}{} ({}{})", exact_number(figure.value / scale), unit,
                                    figure.mhz ? fmt::format(" at {:.0f} MHz", *figure.mhz) : "",
                                    figure.source, figure.secondary ? ", secondary" : ""));
    }
    return (words.size() > 1 ? "sources differ: " : "") + join(words, ", ");
}

// What the maker sells it as.
std::string accelerator_text(const catalog::Accelerator& accelerator) {
    std::string text;
    for (const auto& [type, figures] : accelerator.peak) {
        text += line(type + " datasheet", figures_text(figures, 1e12, "TFLOP/s"));
    }
    text += line("bandwidth datasheet", figures_text(accelerator.bandwidth, 1e9, "GB/s"));
    text += line("memory datasheet", figures_text(accelerator.memory, 1e9, "GB"));
    text += line("power datasheet", figures_text(accelerator.power, 1, "W"));
    text += line("link datasheet", figures_text(accelerator.link, 1e9, "GB/s one direction"));
    text += line("link joins", fmt::format("{} devices, {}", accelerator.domain,
                                           accelerator.topology.empty() ? "topology unknown"
                                                                        : accelerator.topology));
    text += line("fp8", accelerator.unit.e4m3.empty() ? "none" : "e4m3" + accelerator.unit.e4m3);
    return text;
}

// Why every promise is unknown, where it is one reason for all.
std::string common_reason(const std::map<std::string, catalog::Promise>& by_type) {
    if (by_type.empty()) return "";
    const auto& first = by_type.begin()->second;
    const bool common = std::ranges::all_of(by_type, [&](const auto& entry) {
        return !entry.second.value && entry.second.basis == first.basis;
    });
    return common ? first.basis : "";
}

std::string catalog_text(const catalog::Promises& promises) {
    std::string text = line("in the catalog", promises.model.empty() ? "no" : promises.model);
    text += line("found", promises.found);
    if (promises.accelerator) text += accelerator_text(*promises.accelerator);
    if (const auto reason = common_reason(promises.peak); !reason.empty()) {
        text += line("peaks", "unknown: " + reason);
    } else {
        for (const auto& [type, promise] : promises.peak) {
            text += line(type + " peak", promise_text(promise));
        }
    }
    for (const auto& [type, promise] : promises.flop_per_cycle) {
        if (promise.value) text += line(type + " per cycle", promise_text(promise));
    }
    if (!promises.accelerator) text += line("memory bandwidth", promise_text(promises.bandwidth));
    if (promises.bandwidth_peak.value) {
        text += line("bandwidth peak", promise_text(promises.bandwidth_peak));
    }
    return text;
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

    return text + catalog_text(catalog::promises(facts));
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
