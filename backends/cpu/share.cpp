#include "cpu/share.h"

#include <algorithm>

namespace assay::cpu {

Share share_of(std::size_t bytes, int index, int count) {
    const std::size_t pages = (bytes + kPage - 1) / kPage;
    const auto begin_of = [&](std::size_t part) {
        return std::min(bytes, pages * part / static_cast<std::size_t>(count) * kPage);
    };
    const auto part = static_cast<std::size_t>(index);
    const std::size_t first = begin_of(part);
    return {first, begin_of(part + 1) - first};
}

}  // namespace assay::cpu
