#include <algorithm>

#include <fmt/format.h>

#include "base/units.h"
#include "judge/look.h"
#include "judge/rules.h"

namespace assay::judge {

namespace {

const record::Series* series(const record::Result& result, std::string_view name) {
    const auto found = std::ranges::find(result.series, name, &record::Series::name);
    return found == result.series.end() ? nullptr : &*found;
}

std::vector<record::Finding> apply(const Evidence& evidence) {
    Lines lines;
    for (const auto& result : evidence.run.results) {
        const auto* gain = series(result, "padding gain");
        const auto* pad = series(result, "pad to");
        if (gain == nullptr || pad == nullptr) continue;
        const auto sizes = std::min({gain->x.size(), gain->y.size(), pad->y.size()});
        for (std::size_t i = 0; i < sizes; ++i) {
            lines.add(result,
                      fmt::format("{}={:.0f} takes {} times as long as {}={:.0f}", gain->unit_x,
                                  gain->x[i], format_number(gain->y[i]), gain->unit_x, pad->y[i]));
        }
    }
    return lines.finding(
        kSizeCliff.id, record::Severity::note,
        [](std::size_t n) { return counted(n, "size") + " slower than a larger one"; },
        "pad these dimensions to the larger size");
}

}  // namespace

const Rule kSizeCliff{"size-cliff", "a size of a sweep takes longer than a larger one", apply};

}  // namespace assay::judge
