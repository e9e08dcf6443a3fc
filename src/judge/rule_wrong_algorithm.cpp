#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        const auto& settings = result.conditions.settings;
        const auto wrong = settings.find("wrong algorithms");
        if (wrong == settings.end()) continue;
        lines.add(result, result.conditions.library + " " + result.conditions.library_version +
                              ": " + wrong->second);
    }
    return lines.finding(
        kWrongAlgorithm.id, record::Severity::error,
        [](std::size_t n) { return counted(n, "case") + " with an algorithm that computes wrong"; },
        "the algorithm was left out; report it to the library's maker, and don't let other "
        "programs "
        "that search for algorithms choose it on this version");
}

}  // namespace

const Rule kWrongAlgorithm{"wrong-algorithm", "an algorithm that a library offers computes wrong",
                           apply};

}  // namespace assay::judge
