// A table of a config.json on its way to a shape: every key under all the names that models give
// it, and what is wrong with a value said with the file and the key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::model {

using Names = std::initializer_list<std::string_view>;

// Whole numbers that a key may hold.
struct Bounds {
    std::int64_t least = 1, most = 1 << 20;
};
inline constexpr Bounds kWidth{};
inline constexpr Bounds kCount{0, 1 << 20};
inline constexpr Bounds kLayers{1, 4096};
inline constexpr Bounds kVocabulary{1, 100'000'000};
inline constexpr Bounds kTokens{1, std::int64_t{1} << 40};

// A key whose value is null is a key that isn't there. Every function throws UsageError for a value
// of another type or out of bounds.
class Keys {
  public:
    // `path` leads `table`'s keys in messages: "text_config." or "". `defaults` stands in for keys
    // that `table` lacks: what the family's own configuration class assumes.
    Keys(Json table, std::string source, std::string path = "", Json defaults = Json::object());

    const std::string& source() const { return source_; }
    // Of the first of the names that has a value; nullptr when none has.
    const Json* find(Names names) const;
    bool has(Names names) const { return find(names) != nullptr; }

    // Needed: without any of the names, an error that lists them.
    std::int64_t integer(Names names, Bounds bounds = kWidth) const;
    std::optional<std::int64_t> optional_integer(Names names, Bounds bounds = kWidth) const;
    std::int64_t integer_or(Names names, std::int64_t otherwise, Bounds bounds = kWidth) const;
    bool flag_or(Names names, bool otherwise) const;
    std::string text_or(Names names, const std::string& otherwise) const;
    std::vector<std::int64_t> integers(Names names, Bounds bounds = kCount) const;
    std::vector<std::string> words(Names names) const;
    // A table within; an empty one when no name has one.
    Keys table(std::string_view name) const;
    std::vector<Keys> tables(std::string_view name) const;

    const Json& json() const { return table_; }
    // "FILE: "PATHkey" REASON".
    [[noreturn]] void fail(std::string_view name, std::string_view reason) const;

  private:
    std::string_view found_name(Names names) const;
    std::int64_t checked(std::string_view name, const Json& value, Bounds bounds) const;

    Json table_, defaults_;
    std::string source_, path_;
};

}  // namespace assay::model
