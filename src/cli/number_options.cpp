#include "cli/number_options.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"

namespace assay::cli {

namespace {

constexpr double kMost = 1e18;  // of any number given
constexpr std::int64_t kMostDevices = 100'000'000;

}  // namespace

std::int64_t count_option(const std::string& text, const char* option) {
    constexpr std::uint64_t kMostCount = std::numeric_limits<std::int32_t>::max();
    std::uint64_t count = 0;
    try {
        count = parse_size(text);
    } catch (const UsageError&) {
        throw UsageError(fmt::format("{} {} is no count", option, text),
                         "write a whole number, as 8192 or 8K");
    }
    if (count > kMostCount) {
        throw UsageError(fmt::format("{} {} is out of range", option, text),
                         fmt::format("give at most {}", kMostCount));
    }
    return static_cast<std::int64_t>(count);
}

double number_option(const std::string& text, const char* option, double least, double most) {
    const double value = parse_number(text, option);
    if (value >= least && value <= most) return value;
    throw UsageError(fmt::format("{} {} is out of range", option, text),
                     fmt::format("give {} to {}", format_number(least), format_number(most)));
}

double positive_option(const std::string& text, const char* option) {
    const double value = parse_number(text, option);
    if (value > 0 && value <= kMost) return value;
    throw UsageError(
        fmt::format("{} {} is {}", option, text, value > 0 ? "over 1e18" : "not above 0"),
        "give a number above 0, or leave the option out");
}

double token_count_option(const std::string& text, const char* option) {
    static const std::string kSuffixes = "kMBT";
    const auto power = text.empty() ? std::string::npos : kSuffixes.find(text.back());
    if (power == std::string::npos) return positive_option(text, option);
    return positive_option(text.substr(0, text.size() - 1), option) *
           std::pow(1000.0, static_cast<double>(power) + 1);
}

std::int64_t device_count_option(const std::string& text, const char* option) {
    const auto value = parse_integer(text, option);
    if (value >= 1 && value <= kMostDevices) return value;
    throw UsageError(fmt::format("{} {} is out of range", option, text),
                     "give a whole number from 1 to 100,000,000");
}

double time_option(const std::string& text, const char* option) {
    const double value = parse_seconds(text);
    if (value > 0) return value;
    throw UsageError(fmt::format("{} {} is not above 0", option, text), "write a time: 378ms");
}

}  // namespace assay::cli
