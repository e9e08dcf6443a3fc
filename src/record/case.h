// What was run: ordered name=value pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {

class Case {
  public:
    struct Pair {
        std::string name;
        std::string value;
        bool is_default = false;  // left out of the text form

        // "name=value", either side in quotes with escapes where it holds anything but plain words.
        std::string text() const;
        bool operator==(const Pair&) const = default;
    };

    // Appends, or replaces the pair of that name. A value equal to `default_value` is marked so.
    Case& set(std::string name, std::string value,
              std::optional<std::string_view> default_value = {});
    Case& set(std::string name, std::int64_t value);

    bool has(std::string_view name) const;
    // Throw Error naming the pair when it is missing or isn't a number.
    const std::string& at(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    std::uint64_t size(std::string_view name) const;  // "64K" too

    // "m=8192 n=8192 k=8192 dtype=bf16": pairs at their default left out, so that a new axis
    // renames nothing. With probe, protocol and device kind it is the identity of a result.
    std::string text() const;

    const std::vector<Pair>& pairs() const { return pairs_; }
    bool operator==(const Case&) const = default;

  private:
    std::vector<Pair> pairs_;
};

}  // namespace assay::record
