// Conventions of every JSON document here: NaN and infinities are null, integers over 2^53 are
// strings, keys keep their order.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace assay {

using Json = nlohmann::ordered_json;

inline Json json_number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}
inline double number_of(const Json& j) {
    return j.is_number() ? j.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

inline constexpr std::uint64_t kLargestExactInteger = std::uint64_t{1} << 53;
inline Json json_integer(std::uint64_t value) {
    return value > kLargestExactInteger ? Json(std::to_string(value)) : Json(value);
}
std::uint64_t integer_of(const Json& j);  // from either form; throws Error

// One line, always valid UTF-8 (bytes that aren't are replaced). Throws nothing for odd strings.
std::string dump_line(const Json& j);

// Throws Error naming `source` and the byte where the text breaks.
Json parse_json(std::string_view text, std::string_view source);

}  // namespace assay
