#include "record/finding.h"

#include "record/words.h"

namespace assay::record {

namespace {
constexpr std::array<std::string_view, 3> kWords = {"note", "warning", "error"};
}

std::string_view name(Severity severity) {
    return word_of(severity, kWords);
}

Severity parse_severity(std::string_view word) {
    return enumerator_of<Severity>(word, kWords, "severity");
}

}  // namespace assay::record
