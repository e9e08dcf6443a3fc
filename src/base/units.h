// Numbers as people write and read them. Nothing here depends on the locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

// "64K" -> 65536. Suffixes K, M, G, T are powers of 1024, as "KiB" and so on are; "B" may follow.
// Throws UsageError for anything else, for a negative or fractional count of bytes, and on
// overflow.
std::uint64_t parse_size(std::string_view text);

// Whole number, decimal. Throws UsageError naming `what`.
std::int64_t parse_integer(std::string_view text, std::string_view what);

// Decimal number with a point. Throws UsageError naming `what`.
double parse_number(std::string_view text, std::string_view what);

// "90s", "1.5m", "250ms", "2h"; a bare number is seconds. Throws UsageError.
double parse_seconds(std::string_view text);

// 65536 -> "64K", 1000 -> "1000": exact, and parse_size reads it back.
std::string size_label(std::uint64_t bytes);

// 1536 -> "1.50 KiB": for sentences.
std::string format_bytes(double bytes);

// Significant digits, never in exponent form from 1e-3 to 1e15: 1234.5 -> "1234", 0.012345 ->
// "0.01234".
std::string format_number(double value, int significant = 4);

// 0.00123 -> "1.23 ms".
std::string format_seconds(double seconds);

// The shortest text that reads back as the same double.
std::string exact_number(double value);

}  // namespace assay
