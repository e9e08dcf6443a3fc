#include "record/json_field.h"

#include <fmt/format.h>

#include "base/error.h"

namespace assay::record {

void Field::fail(const std::string& why) const {
    throw Error(fmt::format("{}: {}", path_.empty() ? "document" : path_, why),
                "docs/assay-1.schema.json says what each field holds");
}

std::string Field::path_of(const std::string& member) const {
    return path_.empty() ? member : path_ + '.' + member;
}

std::optional<Field> Field::find(const std::string& name) const {
    if (!json_->is_object()) fail("expected an object");
    const auto found = json_->find(name);
    if (found == json_->end()) return std::nullopt;
    return Field(*found, path_of(name));
}

Field Field::at(const std::string& name) const {
    if (auto field = find(name)) return *std::move(field);
    Field(*json_, path_of(name)).fail("missing");
}

std::vector<Field> Field::items() const {
    if (!json_->is_array()) fail("expected an array");
    std::vector<Field> fields;
    for (const Json& item : *json_) {
        fields.emplace_back(item, fmt::format("{}[{}]", path_, fields.size()));
    }
    return fields;
}

std::vector<std::pair<std::string, Field>> Field::members() const {
    if (!json_->is_object()) fail("expected an object");
    std::vector<std::pair<std::string, Field>> fields;
    for (const auto& [name, value] : json_->items()) {
        fields.emplace_back(name, Field(value, path_of(name)));
    }
    return fields;
}

std::string Field::text() const {
    if (!json_->is_string()) fail("expected a string");
    return json_->get<std::string>();
}

bool Field::boolean() const {
    if (!json_->is_boolean()) fail("expected true or false");
    return json_->get<bool>();
}

double Field::number() const {
    if (!json_->is_number() && !json_->is_null()) fail("expected a number");
    return number_of(*json_);
}

std::vector<double> Field::numbers() const {
    if (!json_->is_array()) fail("expected an array");
    std::vector<double> values;
    values.reserve(json_->size());
    for (const Json& item : *json_) {
        if (!item.is_number() && !item.is_null()) {
            Field(item, fmt::format("{}[{}]", path_, values.size())).fail("expected a number");
        }
        values.push_back(number_of(item));
    }
    return values;
}

std::variant<std::int64_t, std::uint64_t> Field::any_integer() const {
    if (json_->is_number_unsigned()) return json_->get<std::uint64_t>();
    if (json_->is_number_integer()) return json_->get<std::int64_t>();
    if (!json_->is_string()) fail("expected an integer");
    try {
        return integer_of(*json_);
    } catch (const Error& error) {
        fail(error.what());
    }
}

}  // namespace assay::record
