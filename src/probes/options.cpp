#include "probes/options.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace assay::probes {

void Options::set(const std::string& name, std::string value) {
    at(name);  // refuses a name that isn't declared
    values_[name] = std::move(value);
}

const std::string& Options::at(std::string_view name) const {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    const auto spec = std::ranges::find(specs_, name, &OptionSpec::name);
    if (spec != specs_.end()) return spec->default_value;
    std::vector<std::string> known;
    for (const auto& s : specs_) known.push_back(s.name);
    throw_unknown("option", name, known);
}

std::vector<std::int64_t> parse_integers(const Options& options, const char* option) {
    const auto name = "--" + std::string(option);
    return parse_list(options, option,
                      [&](std::string_view word) { return parse_integer(word, name); });
}

bool is_asked(const Options& options, const char* option) {
    const auto& word = options.at(option);
    if (word.empty() || word == "no") return false;
    if (word == "yes") return true;
    throw UsageError(fmt::format("--{} {} is neither yes nor no", option, word),
                     "leave the value out for yes");
}

void set_flag(record::Case& what, const char* name, bool value) {
    if (value) what.set(name, "yes", "yes");
}

}  // namespace assay::probes
