#include "judge/limit.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/units.h"

namespace assay::judge {

namespace {

constexpr double kAtLimit = 0.97;  // a device regulates a little below its limit

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

bool names_heat(const std::string& reason) {
    return reason.find("therm") != reason.npos || reason.find("temperature") != reason.npos ||
           reason.find("heat") != reason.npos;
}

bool at_power_limit(const record::Conditions& conditions) {
    const auto limit = conditions.settings.find("power_limit_w");
    if (limit == conditions.settings.end() || !conditions.power_w) return false;
    try {
        return *conditions.power_w >= kAtLimit * parse_number(limit->second, "power_limit_w");
    } catch (const UsageError&) {
        return false;  // "N/A": no limit that is known
    }
}

}  // namespace

Limit limit_of(const record::Conditions& conditions) {
    bool power = false;
    bool heat = false;
    for (const auto& words : conditions.throttle_reasons) {
        const auto reason = lower(words);
        heat = heat || names_heat(reason);
        power = power || (!names_heat(reason) && reason.find("power") != reason.npos);
    }
    if (conditions.throttle_reasons.empty()) power = at_power_limit(conditions);
    if (power && heat) return Limit::power_and_thermal;
    if (power) return Limit::power;
    if (heat) return Limit::thermal;
    return conditions.throttle_reasons.empty() ? Limit::none : Limit::other;
}

std::string name(Limit limit) {
    switch (limit) {
        case Limit::none:
            return "";
        case Limit::power:
            return "power";
        case Limit::thermal:
            return "thermal";
        case Limit::power_and_thermal:
            return "power and thermal";
        case Limit::other:
            break;
    }
    return "other";
}

}  // namespace assay::judge
