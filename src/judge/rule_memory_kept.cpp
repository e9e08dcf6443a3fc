#include <algorithm>

#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        for (const auto& check : result.checks) {
            if (is_about_memory(check) && !check.passed) lines.add(result, check.detail);
        }
    }
    return lines.finding(
        kMemoryKept.id, record::Severity::error,
        [](std::size_t n) { return counted(n, "case") + " whose tuning kept memory"; },
        "a library holds device memory after its search: tune in a process of its own, keep the "
        "winners, and report it to the library's maker");
}

}  // namespace

const Rule kMemoryKept{"memory-kept", "device memory isn't given back after tuning", apply};

}  // namespace assay::judge
