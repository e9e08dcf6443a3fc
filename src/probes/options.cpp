#include "probes/options.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

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

}  // namespace assay::probes
