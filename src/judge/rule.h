// A rule finds one kind of trouble. A new rule is one file in judge/ and one line in rules.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "judge/evidence.h"
#include "record/finding.h"

namespace assay::judge {

struct Rule {
    std::string_view id;
    std::string_view finds;  // one line for docs and --help
    std::vector<record::Finding> (*apply)(const Evidence& evidence);
};

std::span<const Rule> rules();

// All rules, errors first, otherwise in the rules' order.
std::vector<record::Finding> find(const Evidence& evidence);

}  // namespace assay::judge
