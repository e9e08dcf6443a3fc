// Lines of CSV, RFC 4180.
#pragma once

#include <span>
#include <string>

namespace assay::report {

// Appends one line, with quotes where a cell needs them.
void append_row(std::string& out, std::span<const std::string> cells);
// "" for NaN and infinities.
std::string csv_number(double value);

}  // namespace assay::report
