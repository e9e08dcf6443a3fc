#include "base/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"

namespace assay {
namespace {

constexpr std::string_view kSizeSuffixes = "KMGT";

struct SecondsUnit {
    std::string_view suffix;
    double seconds;
};
constexpr std::array kSecondsUnits{SecondsUnit{"", 1.0}, SecondsUnit{"s", 1.0},
                                   SecondsUnit{"ms", 1e-3}, SecondsUnit{"m", 60.0},
                                   SecondsUnit{"h", 3600.0}};

// The number that `text` starts with; `rest` becomes what follows it.
template <class T>
std::errc read_leading(std::string_view text, T& value, std::string_view& rest) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    rest = text.substr(static_cast<std::size_t>(end - text.data()));
    return error;
}

// Power of 1024 that a size's suffix stands for, or -1.
int size_power(std::string_view suffix) {
    if (suffix.empty() || suffix == "B") return 0;
    const auto index = kSizeSuffixes.find(suffix.front());
    const auto unit = suffix.substr(1);
    if (index == std::string_view::npos || !(unit.empty() || unit == "B" || unit == "iB")) {
        return -1;
    }
    return static_cast<int>(index) + 1;
}

// Decimal exponent of `value` once it is rounded to `significant` digits: 9.99 to two gives 1.
int rounded_exponent(double value, int significant) {
    const auto text = fmt::format("{:.{}e}", value, significant - 1);
    int exponent = 0;
    // from_chars takes no plus sign, which fmt always writes.
    const auto* first = text.data() + text.find('e') + 1;
    if (*first == '+') ++first;
    std::from_chars(first, text.data() + text.size(), exponent);
    return exponent;
}

}  // namespace

std::uint64_t parse_size(std::string_view text) {
    constexpr auto kHint =
        "write a whole number of bytes, with K, M, G or T for powers of 1024: 64K";
    std::uint64_t count = 0;
    std::string_view suffix;
    const auto error = read_leading(text, count, suffix);
    const auto power = size_power(suffix);
    if (error == std::errc::invalid_argument || power < 0) {
        throw UsageError(fmt::format("size {:?} is not a size", text), kHint);
    }
    const auto unit = std::uint64_t{1} << (10 * power);
    if (error != std::errc{} || count > std::numeric_limits<std::uint64_t>::max() / unit) {
        throw UsageError(fmt::format("size {:?} is too large", text),
                         "the largest size is 18446744073709551615");
    }
    return count * unit;
}

std::int64_t parse_integer(std::string_view text, std::string_view what) {
    std::int64_t value = 0;
    std::string_view rest;
    const auto error = read_leading(text, value, rest);
    if (error == std::errc::result_out_of_range) {
        throw UsageError(fmt::format("{} {:?} is out of range", what, text),
                         "whole numbers go from -2^63 to 2^63 - 1");
    }
    if (error != std::errc{} || !rest.empty()) {
        throw UsageError(fmt::format("{} {:?} is not a whole number", what, text),
                         "write decimal digits only: 42");
    }
    return value;
}

double parse_number(std::string_view text, std::string_view what) {
    double value = 0;
    std::string_view rest;
    const auto error = read_leading(text, value, rest);
    if (error == std::errc::result_out_of_range) {
        throw UsageError(fmt::format("{} {:?} is out of range", what, text),
                         "its magnitude must lie between 1e-307 and 1e308");
    }
    if (error != std::errc{} || !rest.empty() || !std::isfinite(value)) {
        throw UsageError(fmt::format("{} {:?} is not a number", what, text),
                         "write a decimal number with a point: 0.5");
    }
    return value;
}

double parse_seconds(std::string_view text) {
    constexpr auto kHint = "write a number and ms, s, m or h: 250ms, 90s, 1.5m, 2h";
    double value = 0;
    std::string_view suffix;
    const auto error = read_leading(text, value, suffix);
    const auto* unit = std::ranges::find(kSecondsUnits, suffix, &SecondsUnit::suffix);
    if (error != std::errc{} || unit == kSecondsUnits.end()) {
        throw UsageError(fmt::format("time {:?} is not a time", text), kHint);
    }
    const auto seconds = value * unit->seconds;
    if (!std::isfinite(seconds) || std::signbit(seconds)) {
        throw UsageError(fmt::format("time {:?} is negative or not finite", text), kHint);
    }
    return seconds;
}

std::string size_label(std::uint64_t bytes) {
    std::size_t power = 0;
    while (bytes != 0 && bytes % 1024 == 0 && power < kSizeSuffixes.size()) {
        bytes /= 1024;
        ++power;
    }
    return power == 0 ? fmt::format("{}", bytes)
                      : fmt::format("{}{}", bytes, kSizeSuffixes[power - 1]);
}

std::string format_bytes(double bytes) {
    constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    // From 1023.5 on a unit would print as 1024 of it.
    constexpr double kNextUnit = 1023.5;
    if (!(std::fabs(bytes) >= kNextUnit)) return fmt::format("{:.0f} B", bytes);
    std::size_t unit = 0;
    bytes /= 1024;
    while (std::fabs(bytes) >= kNextUnit && unit + 1 < kUnits.size()) {
        bytes /= 1024;
        ++unit;
    }
    return fmt::format("{} {}", format_number(bytes, 3), kUnits[unit]);
}

std::string format_number(double value, int significant) {
    if (value == 0 || !std::isfinite(value)) return fmt::format("{:g}", value);
    const auto magnitude = std::fabs(value);
    if (magnitude < 1e-3 || magnitude > 1e15) return fmt::format("{:.{}e}", value, significant - 1);
    const auto decimals = std::max(0, significant - 1 - rounded_exponent(value, significant));
    return fmt::format("{:.{}f}", value, decimals);
}

std::string format_seconds(double seconds) {
    constexpr int kDigits = 3;
    constexpr std::array kUnits{"ns", "us", "ms", "s"};
    if (seconds == 0 || !std::isfinite(seconds)) return fmt::format("{:g} s", seconds);
    if (std::fabs(seconds) < 60) {
        const auto exponent = rounded_exponent(seconds, kDigits);
        const auto unit = exponent >= 0 ? 3 : std::max(0, (exponent + 9) / 3);
        const auto scaled = seconds * std::pow(10.0, 9 - 3 * unit);
        return fmt::format("{} {}", format_number(scaled, kDigits),
                           kUnits[static_cast<std::size_t>(unit)]);
    }
    const auto sign = seconds < 0 ? "-" : "";
    const auto whole = std::round(std::fabs(seconds));
    if (whole < 3600) {
        return fmt::format("{}{:.0f} min {:.0f} s", sign, std::floor(whole / 60),
                           std::fmod(whole, 60));
    }
    return fmt::format("{}{:.0f} h {:.0f} min", sign, std::floor(whole / 3600),
                       std::floor(std::fmod(whole, 3600) / 60));
}

std::string exact_number(double value) {
    return fmt::format("{}", value);
}

}  // namespace assay
