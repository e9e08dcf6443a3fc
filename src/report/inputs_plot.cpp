#include "report/inputs_plot.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "report/text_table.h"

namespace assay::report {

namespace {

constexpr double kBar = 40;  // characters of the fastest
constexpr const char* kPair = "inputs";

using Align = TextTable::Align;

const record::Metric* rate_of(const record::Result& result) {
    const auto found = std::ranges::find_if(result.metrics, [](const auto& metric) {
        return metric.better == record::Better::higher && std::isfinite(metric.value) &&
               metric.value > 0;
    });
    return found == result.metrics.end() ? nullptr : &*found;
}

// Results that differ in their inputs alone.
struct Group {
    std::string title;
    std::vector<const record::Result*> results;
};

void add(std::vector<Group>& groups, const record::Result& result) {
    const auto title =
        fmt::format("{} {}", result.conditions.protocol, judge::text_without(result.what, kPair));
    auto group = std::ranges::find(groups, title, &Group::title);
    if (group == groups.end()) group = groups.insert(groups.end(), {title, {}});
    const bool there = std::ranges::any_of(group->results, [&](const auto* other) {
        return other->what.at(kPair) == result.what.at(kPair);
    });
    if (!there) group->results.push_back(&result);
}

std::string plot(const Group& group) {
    double most = 0;
    for (const auto* result : group.results) most = std::max(most, rate_of(*result)->value);
    TextTable table({{kPair, Align::left},
                     {"", Align::left},
                     {"", Align::right},
                     {"", Align::left},
                     {"MHz", Align::right},
                     {"W", Align::right}});
    const auto whole = [](const std::optional<double>& value) {
        return value ? fmt::format("{:.0f}", *value) : "";
    };
    for (const auto* result : group.results) {
        const auto* rate = rate_of(*result);
        const auto length = static_cast<std::size_t>(std::lround(kBar * rate->value / most));
        table.add({result->what.at(kPair), std::string(length, '#'), format_number(rate->value),
                   rate->unit, whole(result->conditions.clock_mhz),
                   whole(result->conditions.power_w)});
    }
    return fmt::format("  by inputs: {}\n", group.title) + table.text(4);
}

}  // namespace

std::string inputs_plot(const record::Run& run, const std::string& probe,
                        const std::string& device) {
    std::vector<Group> groups;
    for (const auto& result : run.results) {
        if (result.probe != probe || result.device != device) continue;
        if (result.status != record::Status::ok || !result.what.has(kPair)) continue;
        if (rate_of(result) != nullptr) add(groups, result);
    }
    std::string text;
    for (const auto& group : groups) {
        if (group.results.size() > 1) text += plot(group);
    }
    return text;
}

}  // namespace assay::report
