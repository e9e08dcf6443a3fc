#include <algorithm>

#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        // A failed check has its own rule.
        const bool by_check =
            std::ranges::find(result.checks, false, &record::Check::passed) != result.checks.end();
        if (result.status == record::Status::failed && !by_check) lines.add(result, result.reason);
    }
    return lines.finding(
        kFailedCase.id, record::Severity::error,
        [](std::size_t n) { return counted(n, "case") + " failed"; },
        "run the case alone with --in-process under a debugger, and look into the system's log "
        "for the device, memory or driver that the reason names");
}

}  // namespace

const Rule kFailedCase{"failed-case", "a case crashed, hung, lost its device or ended in an error",
                       apply};

}  // namespace assay::judge
