// One invocation of the program: the document that is printed, stored and read back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/finding.h"
#include "record/provenance.h"
#include "record/result.h"

namespace assay::record {

enum class RunState { complete, interrupted, failed };

std::string_view name(RunState state);
RunState parse_run_state(std::string_view word);  // throws Error

struct Run {
    std::string id;  // 26 characters, sorts by time
    RunState state = RunState::complete;
    std::string started, ended;  // UTC
    std::vector<std::string> command;
    std::string suite;
    Provenance provenance;
    std::vector<Result> results;
    std::vector<Finding> findings;

    bool operator==(const Run&) const = default;
};

std::string new_run_id();

}  // namespace assay::record
