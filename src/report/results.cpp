#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/units.h"
#include "report/format.h"
#include "report/inputs_plot.h"
#include "report/text_table.h"
#include "report/waterfall.h"

namespace assay::report {

namespace {

using Align = TextTable::Align;

// Few digits where the interval is wide: 3 % of uncertainty and 5 digits don't go together.
std::string value_text(const record::Metric& metric) {
    if (!std::isfinite(metric.value)) return "unknown";
    if (metric.unit == "s") return format_seconds(metric.value);
    return format_number(metric.value);
}

// No two order statistics of fewer samples enclose the median with 95 %.
constexpr std::uint64_t kLeastForInterval = 6;

std::string spread_text(const record::Metric& metric) {
    if (!metric.interval || !(std::abs(metric.value) > 0)) return "";
    if (metric.trustworthy == false && metric.n < kLeastForInterval) return "?";
    const double percent =
        50 * (metric.interval->second - metric.interval->first) / std::abs(metric.value);
    // An interval that can't be told apart from nothing has no half-width worth a number.
    std::string text;
    if (percent > 100) {
        text = "over ±100 %";
    } else if (std::isfinite(percent)) {
        text = percent < 10 ? fmt::format("±{:.2g} %", percent) : fmt::format("±{:.0f} %", percent);
    }
    if (metric.trustworthy == false) text += " ?";
    return text;
}

std::string unit_text(const record::Metric& metric) {
    return metric.unit == "s" ? "" : metric.unit;
}

// The case as its identity has it, with the layer's name where the shape has one.
std::string case_text(const record::Result& result) {
    std::string text = result.what.text();
    if (result.what.has("layer")) text += " (" + result.what.at("layer") + ")";
    return text;
}

void add_rows(TextTable& table, const record::Result& result) {
    const auto& conditions = result.conditions;
    std::string clock = conditions.clock_mhz ? fmt::format("{:.0f}", *conditions.clock_mhz) : "";
    std::string power = conditions.power_w ? fmt::format("{:.0f}", *conditions.power_w) : "";
    std::string path =
        result.path == record::Path::unknown ? "" : std::string(record::name(result.path));
    bool first = true;
    for (const auto& metric : result.metrics) {
        // The time stands behind the rate already.
        if (metric.name == "time" && result.metrics.size() > 1) continue;
        table.add({first ? case_text(result) : "", first ? conditions.protocol : "", metric.name,
                   value_text(metric), unit_text(metric), spread_text(metric),
                   metric.n > 0 ? std::to_string(metric.n) : "", first ? clock : "",
                   first ? power : "", first ? path : ""});
        first = false;
    }
    if (!first || result.status != record::Status::ok) return;
    // A case of checks alone: what matters is that they held.
    table.add({case_text(result), conditions.protocol,
               fmt::format("{} checks", result.checks.size()), "passed", "", "", "", clock, power,
               path});
}

std::string without_value(const record::Run& run, const std::string& probe,
                          const std::string& device) {
    std::string text;
    for (const auto& result : run.results) {
        if (result.probe != probe || result.device != device) continue;
        if (result.status == record::Status::ok) continue;
        text += fmt::format("  {} {}: {}\n", record::name(result.status), case_text(result),
                            result.reason);
    }
    return text;
}

}  // namespace

std::string results_table(const record::Run& run) {
    std::string text;
    std::vector<std::pair<std::string, std::string>> groups;  // probe, device: in order
    for (const auto& result : run.results) {
        const std::pair key{result.probe, result.device};
        if (std::ranges::find(groups, key) == groups.end()) groups.push_back(key);
    }
    const auto falls = judge::waterfalls(run);
    for (const auto& [probe, device] : groups) {
        TextTable table({{"case", Align::left},
                         {"protocol", Align::left},
                         {"metric", Align::left},
                         {"value", Align::right},
                         {"", Align::left},
                         {"95 %", Align::left},
                         {"n", Align::right},
                         {"MHz", Align::right},
                         {"W", Align::right},
                         {"path", Align::left}});
        for (const auto& result : run.results) {
            if (result.probe == probe && result.device == device) add_rows(table, result);
        }
        text += fmt::format("{} on {}\n", probe, device);
        if (!table.empty()) text += table.text();
        text += without_value(run, probe, device);
        for (const auto& fall : falls) {
            if (fall.result->probe != probe || fall.result->device != device) continue;
            text += "  " + waterfall_text(fall) + "\n";
        }
        text += inputs_plot(run, probe, device) + "\n";
    }
    if (run.state == record::RunState::interrupted)
        text += "interrupted: what was measured is above\n\n";
    return text;
}

}  // namespace assay::report
