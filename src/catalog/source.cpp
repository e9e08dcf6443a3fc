#include "catalog/source.h"

#include <regex>

#include <fmt/format.h>

#include "base/json.h"

namespace assay::catalog {

Sources read_sources(const FactFile& file, const nlohmann::json& root) {
    static const std::regex kDate("[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?");
    Sources sources;
    for (const auto& [name, table] : file.table(root, "", "source").items()) {
        const std::string at = "/source/" + name;
        if (!table.is_object()) file.fail(at, "source is written [source.NAME]");
        file.expect_keys(at, table, {"text", "date", "secondary"});
        Source source{file.text(table, at, "text"), file.text_or(table, at, "date", ""),
                      file.flag(table, at, "secondary")};
        if (!source.date.empty() && !std::regex_match(source.date, kDate)) {
            file.fail(at + "/date", "expected a date as \"2024\", \"2024-12\" or \"2024-12-22\"");
        }
        sources[name] = std::move(source);
    }
    return sources;
}

const Source& named_source(const FactFile& file, const nlohmann::json& table, const std::string& at,
                           const Sources& sources) {
    const auto name = file.text(table, at, "source");
    const auto found = sources.find(name);
    if (found == sources.end()) file.fail(at + "/source", fmt::format("no [source.{}]", name));
    return found->second;
}

}  // namespace assay::catalog
