// Records to and from JSON by one list of fields for both ways, so that neither can forget one:
//
//   template <>
//   struct Fields<Check> {
//       static void list(auto& archive, auto& check) {
//           archive.required("name", check.name);
//           archive.optional("detail", check.detail);  // absent when empty, 0 or nullopt
//       }
//   };
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "record/json_field.h"
#include "record/result.h"

namespace assay::record {

template <typename Record>
struct Fields;

// The enumerator a word stands for: a specialization for each enumeration.
template <typename Enum>
Enum enumerator(std::string_view word);

template <typename T>
Json write(const T& value);
template <typename T>
T read(const Field& field);

class Writer {
  public:
    template <typename T>
    void required(const char* name, const T& value) {
        json_[name] = write(value);
    }
    template <typename T>
    void optional(const char* name, const T& value) {
        if (value != T{}) required(name, value);
    }
    // "case" holds every pair, "case_text" those not at their default.
    void pairs(const Case& what);

    Json take() { return std::move(json_); }

  private:
    Json json_ = Json::object();
};

class Reader {
  public:
    explicit Reader(const Field& object) : object_(object) {}

    template <typename T>
    void required(const char* name, T& value) {
        value = read<T>(object_.at(name));
    }
    template <typename T>
    void optional(const char* name, T& value) {
        if (const auto field = object_.find(name)) value = read<T>(*field);
    }
    void pairs(Case& what);

  private:
    const Field& object_;
};

namespace detail {

template <typename T, template <typename...> typename Template>
inline constexpr bool kIs = false;
template <typename... Ts, template <typename...> typename Template>
inline constexpr bool kIs<Template<Ts...>, Template> = true;

}  // namespace detail

template <typename T>
Json write(const T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
        return value;
    } else if constexpr (std::is_same_v<T, double>) {
        return json_number(value);
    } else if constexpr (std::unsigned_integral<T>) {
        return json_integer(value);
    } else if constexpr (std::signed_integral<T>) {
        return value < 0 ? Json(value) : json_integer(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_enum_v<T>) {
        return std::string(name(value));
    } else if constexpr (detail::kIs<T, std::optional>) {
        return write(*value);
    } else if constexpr (detail::kIs<T, std::pair>) {
        return Json::array({write(value.first), write(value.second)});
    } else if constexpr (detail::kIs<T, std::vector>) {
        Json array = Json::array();
        for (const auto& item : value) array.push_back(write(item));
        return array;
    } else if constexpr (detail::kIs<T, std::map>) {
        Json object = Json::object();
        for (const auto& [key, member] : value) object[key] = write(member);
        return object;
    } else {
        Writer writer;
        Fields<T>::list(writer, value);
        return writer.take();
    }
}

template <typename T>
T read(const Field& field) {
    if constexpr (std::is_same_v<T, bool>) {
        return field.boolean();
    } else if constexpr (std::is_same_v<T, std::string>) {
        return field.text();
    } else if constexpr (std::is_same_v<T, double>) {
        return field.number();
    } else if constexpr (std::integral<T>) {
        return field.integer<T>();
    } else if constexpr (std::is_enum_v<T>) {
        return field.word(&enumerator<T>);
    } else if constexpr (detail::kIs<T, std::optional>) {
        return read<typename T::value_type>(field);
    } else if constexpr (detail::kIs<T, std::pair>) {
        const auto items = field.items();
        if (items.size() != 2) field.fail("expected two items");
        return {read<typename T::first_type>(items[0]), read<typename T::second_type>(items[1])};
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
        return field.numbers();
    } else if constexpr (detail::kIs<T, std::vector>) {
        T values;
        for (const Field& item : field.items()) {
            values.push_back(read<typename T::value_type>(item));
        }
        return values;
    } else if constexpr (detail::kIs<T, std::map>) {
        T values;
        for (const auto& [key, member] : field.members()) {
            values.emplace(key, read<typename T::mapped_type>(member));
        }
        return values;
    } else {
        T record;
        Reader reader(field);
        Fields<T>::list(reader, record);
        return record;
    }
}

// A run holds results, whose fields json_result.cpp lists.
extern template Json write(const Result& result);
extern template Result read<Result>(const Field& field);

}  // namespace assay::record
