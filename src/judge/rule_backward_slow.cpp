#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

// Time over forward's, by FLOP over forward's. A good backward pass keeps two more operands in a
// kernel than the forward one, and takes 1.1 to 1.4 times as long for a FLOP: 2.7 to 3.4 times in
// all where dims are equal.
constexpr double kSlow = 1.5;

// The time of a case whose interval can speak for or against a finding, else null.
const record::Metric* sure_time(const record::Result& result) {
    if (!measured(result, "time")) return nullptr;
    const auto* time = result.metric("time");
    return time->interval && time->trustworthy != false ? time : nullptr;
}

std::vector<record::Finding> apply(const Evidence& evidence) {
    // By device, protocol and the rest of the case.
    std::map<std::string, const record::Result*> forward;
    const auto key = [](const record::Result& result) {
        return fmt::format("{} {} {}", result.device, result.conditions.protocol,
                           text_without(result.what, "pass"));
    };
    const auto is = [](const record::Result& result, std::string_view pass) {
        return result.probe == "attention" && result.what.has("pass") &&
               result.what.at("pass") == pass && measured(result, "throughput") &&
               sure_time(result) != nullptr;
    };
    for (const auto& result : evidence.run.results) {
        if (is(result, "forward")) forward[key(result)] = &result;
    }
    Lines lines;
    for (const auto& result : evidence.run.results) {
        if (!is(result, "backward")) continue;
        const auto found = forward.find(key(result));
        if (found == forward.end()) continue;
        const double time = *measured(result, "time") / *measured(*found->second, "time");
        const double flop =
            time * *measured(result, "throughput") / *measured(*found->second, "throughput");
        const double least =
            sure_time(result)->interval->first / sure_time(*found->second)->interval->second;
        if (!(least > kSlow * flop)) continue;
        lines.add(result, fmt::format("takes {} times as long as its forward pass, for {} times "
                                      "the FLOP",
                                      format_number(time, 3), format_number(flop, 3)));
    }
    return lines.finding(
        kBackwardSlow.id, record::Severity::warning,
        [](std::size_t n) {
            return (n == 1 ? "1 backward pass" : fmt::format("{} backward passes", n)) +
                   " slower than the forward one tells";
        },
        "compare all ways with --provider all, and look at which kernel ran (algorithm in the "
        "JSON): an older or deterministic one, or one that writes the scores to memory");
}

}  // namespace

const Rule kBackwardSlow{
    "backward-slow", "a backward pass takes longer than its FLOP and the forward pass tell", apply};

}  // namespace assay::judge
