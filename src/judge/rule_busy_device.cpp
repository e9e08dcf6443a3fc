#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines shared;
    for (const auto& result : evidence.run.results) {
        const auto& settings = result.conditions.settings;
        const auto others = settings.find("other_processes");
        if (others == settings.end() || others->second.empty()) continue;
        shared.add(result, others->second);
    }
    return shared.finding(
        kBusyDevice.id, record::Severity::warning,
        [](std::size_t n) {
            return counted(n, "case") + " measured while other processes held the device";
        },
        "end those processes, named by their ids with the device memory that they hold, or wait "
        "for them: what they do at the same time is in these numbers");
}

}  // namespace

const Rule kBusyDevice{"busy-device", "other processes held the device meanwhile", apply};

}  // namespace assay::judge
