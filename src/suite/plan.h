// What to measure: steps of probes with options, from a command line or a suite file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "probes/options.h"
#include "probes/probe.h"

namespace assay::suite {

inline constexpr int kMostLaunches = 1000;

struct Step {
    const probes::Probe* probe = nullptr;
    probes::Options options;
    double weight = 1;      // share of the budget, over all cases of the step
    bool expected = false;  // `check` counts it as missing when it isn't there
};

struct Plan {
    std::string suite;                   // "" for a single command
    double budget_s = 0;                 // 0: none, each case has its own limit
    int launches = 1;                    // 1 .. kMostLaunches
    std::vector<std::string> protocols;  // empty: the caller's default
    std::vector<Step> steps;
};

// A suite by name (data/suites/NAME.toml) or by path. Throws UsageError for an unknown name, and
// "file:line:column: reason" for an unknown key, probe or option, or a value of the wrong type.
Plan load_suite(std::string_view name_or_path);
// The same from text; `source` is what errors call it.
Plan parse_suite(std::string_view text, const std::string& source);
std::vector<std::string> suite_names();

}  // namespace assay::suite
