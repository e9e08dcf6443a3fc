// Something a reader must know about a run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::record {

enum class Severity { note, warning, error };

std::string_view name(Severity severity);
Severity parse_severity(std::string_view word);  // throws Error

struct Finding {
    std::string rule;  // id: "above-peak"
    Severity severity = Severity::note;
    std::string message;  // one line
    std::vector<std::string> evidence;
    std::string advice;  // "do" in JSON: what to do

    bool operator==(const Finding&) const = default;
};

}  // namespace assay::record
