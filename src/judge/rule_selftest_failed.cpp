#include <fmt/format.h>

#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        if (result.probe != "selftest") continue;
        for (const auto& check : result.checks) {
            if (!check.passed) lines.add(result, fmt::format("{}: {}", check.name, check.detail));
        }
    }
    return lines.finding(
        kSelftestFailed.id, record::Severity::error,
        [](std::size_t n) {
            return fmt::format("the ruler isn't straight: {} failed", counted(n, "selftest"));
        },
        "trust no number of this run; stop other work on the machine and run `assay selftest` "
        "again");
}

}  // namespace

const Rule kSelftestFailed{"selftest-failed", "timer, checker or filler don't do what they must",
                           apply};

}  // namespace assay::judge
