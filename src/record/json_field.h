// A value in a JSON document and where it stands, so that an error can name it:
// "results[3].metrics[0].value: expected a number".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace assay::record {

// Refers to the document, which must outlive it. Every reader throws Error naming the path.
class Field {
  public:
    explicit Field(const Json& json, std::string path = {})
        : json_(&json), path_(std::move(path)) {}

    std::optional<Field> find(const std::string& name) const;
    Field at(const std::string& name) const;
    std::vector<Field> items() const;
    std::vector<std::pair<std::string, Field>> members() const;

    std::string text() const;
    bool boolean() const;
    double number() const;                // null is NaN
    std::vector<double> numbers() const;  // without a Field for each: samples are many
    template <typename Integer>
    Integer integer() const;
    template <typename Enum>
    Enum word(Enum (*parse)(std::string_view)) const;

    [[noreturn]] void fail(const std::string& why) const;

  private:
    std::string path_of(const std::string& member) const;
    std::variant<std::int64_t, std::uint64_t> any_integer() const;

    const Json* json_;
    std::string path_;
};

template <typename Integer>
Integer Field::integer() const {
    return std::visit(
        [this](auto value) {
            if (!std::in_range<Integer>(value)) fail(std::to_string(value) + " is out of range");
            return static_cast<Integer>(value);
        },
        any_integer());
}

template <typename Enum>
Enum Field::word(Enum (*parse)(std::string_view)) const {
    const std::string given = text();
    try {
        return parse(given);
    } catch (const Error& error) {
        fail(error.what());
    }
}

}  // namespace assay::record
