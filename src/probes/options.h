// Options of a probe, the same from the command line and from a suite file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/range.h"
#include "record/case.h"

namespace assay::probes {

struct OptionSpec {
    std::string name;           // "shapes": --shapes on the command line
    std::string default_value;  // "" when there is none
    std::string metavar;        // "MxNxK,...|FILE"
    std::string help;
    std::string implied = {};  // the value of the bare option; "": it needs one
};

class Options {
  public:
    explicit Options(std::vector<OptionSpec> specs) : specs_(std::move(specs)) {}

    // Throws UsageError for an unknown name, with the nearest.
    void set(const std::string& name, std::string value);
    // The given value, else the default.
    const std::string& at(std::string_view name) const;
    const std::vector<OptionSpec>& specs() const { return specs_; }
    const std::map<std::string, std::string, std::less<>>& values() const { return values_; }

    bool is_given(std::string_view name) const { return values_.contains(name); }

  private:
    std::vector<OptionSpec> specs_;
    std::map<std::string, std::string, std::less<>> values_;
};

// Each word of a comma list, as `parse` reads it.
template <class Parse>
auto parse_list(const Options& options, const char* option, Parse parse) {
    std::vector<decltype(parse(std::string_view{}))> values;
    for (const auto& word : parse_words(options.at(option), "--" + std::string(option))) {
        values.push_back(parse(word));
    }
    return values;
}
// A comma list of integers.
std::vector<std::int64_t> parse_integers(const Options& options, const char* option);

// "yes" or "no"; no when it isn't given. Throws UsageError.
bool is_asked(const Options& options, const char* option);

// Sets a pair only where `value` is true: what run() must know, though what is computed is the same
// with and without.
void set_flag(record::Case& what, const char* name, bool value);

// Each case so far with each of `values`, as `set` puts it in.
template <class Case, class Value, class Set>
void cross(std::vector<Case>& cases, const std::vector<Value>& values, Set set) {
    std::vector<Case> crossed;
    for (const auto& one : cases) {
        for (const auto& value : values) set(crossed.emplace_back(one), value);
    }
    cases = std::move(crossed);
}

}  // namespace assay::probes
