// TOML files with errors that name file, line and column. toml++ itself stays in toml.cpp: it is a
// heavy header. A document is handed out as JSON with the place of each value kept beside it.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace assay {

struct TomlDocument {
    std::string source;                         // the path, as errors name it
    std::map<std::string, std::string> places;  // JSON pointer -> "file:line:column"

    // "file:line:column" of the value at a JSON pointer, or the nearest parent's.
    std::string place(std::string_view pointer) const;
};

// Throws UsageError: "path:line:column: reason" on malformed input, or why it is unreadable.
nlohmann::json parse_toml(std::string_view text, std::string source, TomlDocument& document);
nlohmann::json load_toml(const std::filesystem::path& path, TomlDocument& document);

}  // namespace assay
