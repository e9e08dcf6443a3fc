#include "model/config_keys.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::model {
namespace {

const Json* value_of(const Json& table, std::string_view name) {
    const auto found = table.find(name);
    return found == table.end() || found->is_null() ? nullptr : &*found;
}

}  // namespace

Keys::Keys(Json table, std::string source, std::string path, Json defaults)
    : table_(std::move(table)),
      defaults_(std::move(defaults)),
      source_(std::move(source)),
      path_(std::move(path)) {
    if (!table_.is_object()) {
        const auto key = path_.substr(0, path_.find_last_not_of('.') + 1);
        throw UsageError(fmt::format("{}: {} is no table", source_,
                                     key.empty() ? "the document" : "\"" + key + "\""),
                         "a config.json holds one object: {\"model_type\": ..., ...}");
    }
}

void Keys::fail(std::string_view name, std::string_view reason) const {
    throw UsageError(fmt::format("{}: \"{}{}\" {}", source_, path_, name, reason),
                     "correct the config.json, or take the model's own from its repository");
}

std::string_view Keys::found_name(Names names) const {
    for (const auto* table : {&table_, &defaults_}) {
        for (const auto name : names) {
            if (value_of(*table, name) != nullptr) return name;
        }
    }
    return "";
}

const Json* Keys::find(Names names) const {
    const auto name = found_name(names);
    if (name.empty()) return nullptr;
    const auto* value = value_of(table_, name);
    return value != nullptr ? value : value_of(defaults_, name);
}

std::int64_t Keys::checked(std::string_view name, const Json& value, Bounds bounds) const {
    const bool whole = value.is_number_integer() &&
                       (!value.is_number_unsigned() ||
                        value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
    if (!whole || value.get<std::int64_t>() < bounds.least ||
        value.get<std::int64_t>() > bounds.most) {
        fail(name, fmt::format("is {:.40}, expected a whole number from {} to {}", dump_line(value),
                               bounds.least, bounds.most));
    }
    return value.get<std::int64_t>();
}

std::int64_t Keys::integer(Names names, Bounds bounds) const {
    if (const auto value = optional_integer(names, bounds)) return *value;
    std::vector<std::string> aliases;
    for (const auto name : names) aliases.push_back(fmt::format("\"{}{}\"", path_, name));
    const auto first = aliases.front();
    aliases.erase(aliases.begin());
    throw UsageError(fmt::format("{}: {} is missing{}", source_, first,
                                 aliases.empty() ? "" : ", and so is " + join(aliases, ", ")),
                     "the config.json of the model's repository has it under one of these names");
}

std::optional<std::int64_t> Keys::optional_integer(Names names, Bounds bounds) const {
    const auto* value = find(names);
    if (value == nullptr) return std::nullopt;
    return checked(found_name(names), *value, bounds);
}

std::int64_t Keys::integer_or(Names names, std::int64_t otherwise, Bounds bounds) const {
    return optional_integer(names, bounds).value_or(otherwise);
}

bool Keys::flag_or(Names names, bool otherwise) const {
    const auto* value = find(names);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) fail(found_name(names), "is neither true nor false");
    return value->get<bool>();
}

std::string Keys::text_or(Names names, const std::string& otherwise) const {
    const auto* value = find(names);
    if (value == nullptr) return otherwise;
    if (!value->is_string()) fail(found_name(names), "is no text");
    return value->get<std::string>();
}

std::vector<std::int64_t> Keys::integers(Names names, Bounds bounds) const {
    std::vector<std::int64_t> values;
    const auto* list = find(names);
    if (list == nullptr) return values;
    if (!list->is_array()) fail(found_name(names), "is no list");
    for (const auto& value : *list) values.push_back(checked(found_name(names), value, bounds));
    return values;
}

std::vector<std::string> Keys::words(Names names) const {
    std::vector<std::string> values;
    const auto* list = find(names);
    if (list == nullptr) return values;
    if (!list->is_array()) fail(found_name(names), "is no list");
    for (const auto& value : *list) {
        if (!value.is_string()) fail(found_name(names), "is no list of words");
        values.push_back(value.get<std::string>());
    }
    return values;
}

Keys Keys::table(std::string_view name) const {
    const auto* value = find({name});
    return {value == nullptr ? Json::object() : *value, source_, fmt::format("{}{}.", path_, name)};
}

std::vector<Keys> Keys::tables(std::string_view name) const {
    std::vector<Keys> tables;
    const auto* list = find({name});
    if (list == nullptr) return tables;
    if (!list->is_array()) fail(name, "is no list");
    for (std::size_t i = 0; i < list->size(); ++i) {
        tables.emplace_back((*list)[i], source_, fmt::format("{}{}[{}].", path_, name, i));
    }
    return tables;
}

}  // namespace assay::model
