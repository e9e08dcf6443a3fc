// A measured quantity with its exact definition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace assay::record {

enum class Better { higher, lower, neither };

std::string_view name(Better better);
Better parse_better(std::string_view word);  // throws Error

struct Metric {
    std::string name;  // "throughput"
    std::string unit;  // "TFLOP/s"
    Better better = Better::neither;
    std::string definition;  // which bytes, which FLOP formula, numerator and denominator
    double value = 0;        // NaN when it could not be made
    std::optional<std::pair<double, double>> interval;  // 95 %
    std::uint64_t n = 0;                                // samples
    std::optional<double> effective_n;
    std::optional<bool> steady;
    // False when fewer than 100 effective samples stand behind the interval.
    std::optional<bool> trustworthy;

    bool operator==(const Metric&) const = default;
};

}  // namespace assay::record
