#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "judge/limit.h"
#include "judge/look.h"
#include "judge/rules.h"
#include "stats/quantile.h"

namespace assay::judge {

namespace {

// Of the clock of the first quarter of the readings. Wide vectors alone cost less than that, and
// they are there from the start.
constexpr double kFallen = 0.75;
// Of the highest clock. Servers under wide vectors on every core keep 0.55 and more of it.
constexpr double kLow = 0.5;
constexpr std::size_t kReadings = 8;

std::string fallen(const record::Launch& launch) {
    const auto clock = readings(launch, "clock_mhz");
    if (clock.size() < kReadings) return "";
    const std::span all(clock);
    const double first = stats::median(all.first(clock.size() / 4));
    const double last = stats::median(all.last(clock.size() / 4));
    if (last >= kFallen * first) return "";
    return fmt::format("the clock fell from {} to {} MHz", format_number(first),
                       format_number(last));
}

std::string signs(const Evidence& evidence, const record::Result& result) {
    std::vector<std::string> signs;
    const auto& reasons = result.conditions.throttle_reasons;
    if (!reasons.empty()) signs.push_back("limited by " + join(reasons, ", "));
    for (const auto& launch : result.launches) {
        const auto count = readings(launch, "throttled_count");
        if (!count.empty() && count.back() > count.front()) {
            signs.push_back(fmt::format("{} throttle events", count.back() - count.front()));
        }
        if (auto text = fallen(launch); !text.empty()) signs.push_back(std::move(text));
    }
    const auto* facts = device_facts(evidence, result.device);
    const auto clock = result.conditions.clock_mhz;
    if (facts != nullptr && facts->max_clock_mhz && clock &&
        *clock < kLow * *facts->max_clock_mhz) {
        signs.push_back(fmt::format("the clock was {} of at most {} MHz", format_number(*clock),
                                    format_number(*facts->max_clock_mhz)));
    }
    return join(signs, "; ");
}

bool is_cpu(const Evidence& evidence, const record::Result& result) {
    const auto* facts = device_facts(evidence, result.device);
    return facts == nullptr || facts->kind == "cpu";
}

// An accelerator at its power limit, and nothing else: what it sustains, and no trouble.
bool only_at_power_limit(const Evidence& evidence, const record::Result& result,
                         const std::string& signs_text) {
    const auto& reasons = result.conditions.throttle_reasons;
    return !is_cpu(evidence, result) && limit_of(result.conditions) == Limit::power &&
           signs_text == "limited by " + join(reasons, ", ");
}

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines of_host;
    Lines of_accelerators;
    Lines at_power_limit;
    for (const auto& result : evidence.run.results) {
        const auto text = signs(evidence, result);
        if (text.empty()) continue;
        if (only_at_power_limit(evidence, result, text)) {
            at_power_limit.add(result, text);
        } else {
            (is_cpu(evidence, result) ? of_host : of_accelerators).add(result, text);
        }
    }
    const auto throttled = [](std::size_t n) { return counted(n, "case") + " ran throttled"; };
    auto findings = of_host.finding(
        kThrottled.id, record::Severity::warning, throttled,
        "look at cooling, power limits (firmware, BMC, RAPL) and the frequency governor, then "
        "measure again");
    for (auto more :
         {of_accelerators.finding(
              kThrottled.id, record::Severity::warning, throttled,
              "look at cooling and airflow, at the power limit and clock locks of the vendor's "
              "tool, and at other work on the device, then measure again"),
          at_power_limit.finding(
              kThrottled.id, record::Severity::note,
              [](std::size_t n) { return counted(n, "case") + " ran at the device's power limit"; },
              "nothing is wrong: this is what the device sustains; the lines under the results "
              "say how much of the time it costs")}) {
        std::ranges::move(more, std::back_inserter(findings));
    }
    return findings;
}

}  // namespace

const Rule kThrottled{"throttled", "heat, power or a governor held the clock down", apply};

}  // namespace assay::judge
