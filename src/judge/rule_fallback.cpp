#include <iterator>

#include <fmt/format.h>

#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

std::string what_ran(const record::Result& result) {
    const auto& conditions = result.conditions;
    const auto note = conditions.settings.find("note");
    return fmt::format("{} {}{}", conditions.library, conditions.algorithm,
                       note == conditions.settings.end() ? "" : ": " + note->second);
}

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines fallbacks;
    Lines emulated;
    for (const auto& result : evidence.run.results) {
        if (result.path == record::Path::fallback) fallbacks.add(result, what_ran(result));
        if (result.path == record::Path::emulated) emulated.add(result, what_ran(result));
    }
    auto findings = fallbacks.finding(
        kFallback.id, record::Severity::warning,
        [](std::size_t n) { return counted(n, "case") + " fell back to a slower path"; },
        "see why the faster path did not take the case: an unsupported layout or size, a missing "
        "library, a setting in the environment");
    std::ranges::move(emulated.finding(
                          kFallback.id, record::Severity::note,
                          [](std::size_t n) {
                              return fmt::format("{} computed with a type that isn't native",
                                                 counted(n, "case"));
                          },
                          "take these numbers for this machine's, not for those of the type"),
                      std::back_inserter(findings));
    return findings;
}

}  // namespace

const Rule kFallback{"fallback", "a slower path ran than exists or was asked for, or an emulation",
                     apply};

}  // namespace assay::judge
