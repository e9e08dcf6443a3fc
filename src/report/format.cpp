#include "report/format.h"

#include <array>

#include "base/text.h"
#include "record/json.h"

namespace assay::report {

Format parse_format(std::string_view word) {
    if (word == "table") return Format::table;
    if (word == "json") return Format::json;
    if (word == "csv") return Format::csv;
    static const std::array<std::string, 3> known{"table", "json", "csv"};
    throw_unknown("format", word, known);
}

std::string json_text(const record::Run& run) {
    return dump_line(record::to_json(run)) + "\n";
}

}  // namespace assay::report
