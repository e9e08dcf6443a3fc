// data/scenarios/NAME.toml: the options of `assay cost` and its inputs as somebody published them,
// with the figures that came out.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "catalog/prices.h"

namespace assay::catalog {

struct ScenarioFigure {
    std::string figure;  // the name that the answer gives it
    double value = 0;
    double within = 0;  // how far the computed one may be off: what was rounded away, and why
    std::string source;
    bool secondary = false;
};

struct Scenario {
    std::string what;
    std::map<std::string, std::string> options;  // by the option's name without dashes
    std::vector<Input> inputs;                   // in place of the price file's
    std::vector<ScenarioFigure> published;
};

// Throws UsageError "file:line:column: reason".
Scenario load_scenario(const std::filesystem::path& file);
// The file of that path, or of that name in `folder`. Throws UsageError with the names there are.
std::filesystem::path find_scenario(const std::string& name, const std::filesystem::path& folder);

}  // namespace assay::catalog
