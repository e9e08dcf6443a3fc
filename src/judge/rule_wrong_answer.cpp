#include <fmt/format.h>

#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        if (result.probe == "selftest") continue;  // its checks judge us, not the machine
        for (const auto& check : result.checks) {
            if (!check.passed && !is_about_memory(check))
                lines.add(result, fmt::format("{}: {}", check.name, check.detail));
        }
    }
    return lines.finding(
        kWrongAnswer.id, record::Severity::error,
        [](std::size_t n) { return counted(n, "check") + " found a wrong answer"; },
        "don't use this machine for results until the cause is known: run it again with another "
        "--seed, then test memory, undo overclocking, and update microcode, driver and libraries");
}

}  // namespace

const Rule kWrongAnswer{"wrong-answer", "a result differs from the higher-precision reference",
                        apply};

}  // namespace assay::judge
