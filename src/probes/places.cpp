#include "probes/places.h"

#include <algorithm>

namespace assay::probes {

std::vector<std::uint64_t> places(std::uint64_t elements) {
    std::vector<std::uint64_t> indices;
    const std::uint64_t count = std::min(kMostPlaces, elements);
    for (std::uint64_t i = 0; i < count; ++i) {
        indices.push_back(count == 1 ? 0 : i * (elements - 1) / (count - 1));
    }
    return indices;
}

}  // namespace assay::probes
