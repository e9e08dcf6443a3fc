// Which side of a level each sample lies on.
#pragma once

#include <span>
#include <vector>

namespace assay::stats {

// -1 below `level`, 0 at it, 1 above it, in the samples' order.
inline std::vector<double> signs(std::span<const double> samples, double level) {
    std::vector<double> result(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        result[i] =
            static_cast<double>(samples[i] > level) - static_cast<double>(samples[i] < level);
    }
    return result;
}

}  // namespace assay::stats
