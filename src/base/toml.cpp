#include "base/toml.h"

#include <locale>
#include <sstream>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace assay {
namespace {

std::string escaped(std::string_view key) {
    std::string result;
    for (const char c : key) {
        if (c == '~') {
            result += "~0";
        } else if (c == '/') {
            result += "~1";
        } else {
            result += c;
        }
    }
    return result;
}

template <class DateOrTime>
std::string text_of(const DateOrTime& value) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << value;
    return out.str();
}

nlohmann::json convert(const toml::node& node, const std::string& pointer, TomlDocument& document) {
    // A table that only exists through the dotted keys below it has no place of its own.
    if (const auto begin = node.source().begin; begin.line != 0) {
        document.places[pointer] =
            fmt::format("{}:{}:{}", document.source, begin.line, begin.column);
    }
    return node.visit([&](const auto& value) -> nlohmann::json {
        using Node = std::remove_cvref_t<decltype(value)>;
        if constexpr (toml::is_table<Node>) {
            auto object = nlohmann::json::object();
            for (const auto& [key, child] : value) {
                object[std::string(key.str())] =
                    convert(child, pointer + '/' + escaped(key.str()), document);
            }
            return object;
        } else if constexpr (toml::is_array<Node>) {
            auto array = nlohmann::json::array();
            for (const auto& child : value) {
                array.push_back(
                    convert(child, fmt::format("{}/{}", pointer, array.size()), document));
            }
            return array;
        } else if constexpr (toml::is_chronological<Node>) {
            return text_of(value.get());
        } else {
            return value.get();
        }
    });
}

}  // namespace

std::string TomlDocument::place(std::string_view pointer) const {
    for (;;) {
        if (const auto found = places.find(std::string(pointer)); found != places.end()) {
            return found->second;
        }
        if (pointer.empty()) return source;
        const auto slash = pointer.rfind('/');
        pointer = pointer.substr(0, slash == std::string_view::npos ? 0 : slash);
    }
}

nlohmann::json parse_toml(std::string_view text, std::string source, TomlDocument& document) {
    document = {.source = std::move(source), .places = {}};
    try {
        return convert(toml::parse(text), "", document);
    } catch (const toml::parse_error& e) {
        throw UsageError(
            fmt::format("{}:{}:{}: {}", document.source, e.source().begin.line,
                        e.source().begin.column, e.description()),
            "correct the TOML there: key = value, strings in quotes, [table] headings");
    }
}

nlohmann::json load_toml(const std::filesystem::path& path, TomlDocument& document) {
    return parse_toml(read_input_file(path), path.string(), document);
}

}  // namespace assay
