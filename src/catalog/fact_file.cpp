#include "catalog/fact_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace assay::catalog {

using nlohmann::json;

namespace {

constexpr int kLargest = 1'000'000;

const json& need(const FactFile& file, const json& table, const std::string& at,
                 const std::string& key, json::value_t type) {
    if (!table.contains(key)) file.fail(at, fmt::format("\"{}\" is missing", key));
    const auto& value = table.at(key);
    if (value.type() != type) {
        file.fail(at + "/" + key, fmt::format("\"{}\" has another type", key));
    }
    return value;
}

}  // namespace

FactFile::FactFile(const std::filesystem::path& path, json& json_out) {
    json_out = load_toml(path, document_);
}

void FactFile::fail(const std::string& at, const std::string& reason) const {
    throw UsageError(document_.place(at) + ": " + reason,
                     "the head of the file says what a row holds");
}

void FactFile::expect_keys(const std::string& at, const json& table,
                           const std::vector<std::string>& known) const {
    for (const auto& [key, value] : table.items()) {
        if (std::ranges::find(known, key) == known.end()) {
            fail(at + "/" + key, fmt::format("unknown key \"{}\"", key));
        }
    }
}

const json& FactFile::table(const json& parent, const std::string& at,
                            const std::string& key) const {
    return need(*this, parent, at, key, json::value_t::object);
}

const json& FactFile::array(const json& parent, const std::string& at,
                            const std::string& key) const {
    return need(*this, parent, at, key, json::value_t::array);
}

std::string FactFile::text(const json& table, const std::string& at, const std::string& key) const {
    auto value = need(*this, table, at, key, json::value_t::string).get<std::string>();
    if (value.empty()) fail(at + "/" + key, fmt::format("\"{}\" is empty", key));
    return value;
}

std::string FactFile::text_or(const json& table, const std::string& at, const std::string& key,
                              const std::string& otherwise) const {
    return table.contains(key) ? text(table, at, key) : otherwise;
}

std::string FactFile::word(const json& table, const std::string& at, const std::string& key,
                           const std::vector<std::string>& known) const {
    auto value = text(table, at, key);
    if (std::ranges::find(known, value) == known.end()) {
        fail(at + "/" + key,
             fmt::format("\"{}\" is \"{}\", expected {}", key, value, join(known, " or ")));
    }
    return value;
}

std::vector<std::string> FactFile::texts(const json& table, const std::string& at,
                                         const std::string& key) const {
    std::vector<std::string> values;
    for (const auto& value : array(table, at, key)) {
        if (!value.is_string()) fail(at + "/" + key, "expected words");
        values.push_back(value.get<std::string>());
    }
    return values;
}

bool FactFile::flag(const json& table, const std::string& at, const std::string& key) const {
    if (!table.contains(key)) return false;
    return need(*this, table, at, key, json::value_t::boolean).get<bool>();
}

int FactFile::integer(const json& value, const std::string& at) const {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
        value.get<std::int64_t>() > kLargest) {
        fail(at, "expected a whole number from 0 to 1,000,000");
    }
    return value.get<int>();
}

std::optional<int> FactFile::optional_integer(const json& table, const std::string& at,
                                              const std::string& key) const {
    if (!table.contains(key)) return std::nullopt;
    return integer(table.at(key), at + "/" + key);
}

std::vector<int> FactFile::integers(const json& table, const std::string& at,
                                    const std::string& key) const {
    std::vector<int> values;
    for (const auto& value : array(table, at, key)) {
        values.push_back(integer(value, at + "/" + key));
    }
    return values;
}

double FactFile::number(const json& value, const std::string& at) const {
    const double number = value.is_number() ? value.get<double>() : 0;
    if (!std::isfinite(number) || number <= 0) fail(at, "expected a number above 0");
    return number;
}

double FactFile::number(const json& table, const std::string& at, const std::string& key) const {
    if (!table.contains(key)) fail(at, fmt::format("\"{}\" is missing", key));
    return number(table.at(key), at + "/" + key);
}

}  // namespace assay::catalog
