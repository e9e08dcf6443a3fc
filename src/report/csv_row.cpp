#include "report/csv_row.h"

#include <cmath>

#include "base/units.h"

namespace assay::report {

namespace {

std::string field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

}  // namespace

void append_row(std::string& out, std::span<const std::string> cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) out += ',';
        out += field(cells[i]);
    }
    out += "\r\n";
}

std::string csv_number(double value) {
    return std::isfinite(value) ? exact_number(value) : "";
}

}  // namespace assay::report
