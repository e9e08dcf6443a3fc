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

enum class Where { anywhere, cpu, accelerator };

struct Step {
    const probes::Probe* probe = nullptr;
    probes::Options options;
    double weight = 1;      // share of the budget, over all cases of the step
    bool expected = false;  // `check` counts it as missing when it isn't there
    Where on = Where::anywhere;
};

bool runs_on(const Step& step, const record::DeviceFacts& device);

// Seconds for the whole, from start to verdict. 0: none, each case has its own limit.
struct TimeBudget {
    double cpu_s = 0, accelerator_s = 0;

    double on(const record::DeviceFacts& device) const;
};

struct Plan {
    std::string suite;  // "" for a single command
    TimeBudget budget;
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
