#include <algorithm>

#include <fmt/format.h>

#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        if (result.status != record::Status::ok) continue;
        const auto metric = std::ranges::find_if(
            result.metrics, [](const auto& m) { return m.trustworthy == false; });
        if (metric == result.metrics.end()) continue;
        lines.add(result, fmt::format("{} worth {:.0f} independent ones, ended by {}",
                                      counted(metric->n, "sample"), metric->effective_n.value_or(0),
                                      result.conditions.stop_reason));
    }
    // The value stands; only what it is compared with needs the interval: a note.
    return lines.finding(
        kUntrustedInterval.id, record::Severity::note,
        [](std::size_t n) { return counted(n, "case") + " with an interval not to be trusted"; },
        "compare nothing with these yet: give them more time (--limit, --budget) or fewer cases");
}

}  // namespace

const Rule kUntrustedInterval{"untrusted-interval",
                              "fewer than 100 effective samples stand behind an interval", apply};

}  // namespace assay::judge
