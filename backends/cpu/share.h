// How an array is shared out over the members of a team.
#pragma once

#include <cstddef>

namespace assay::cpu {

inline constexpr std::size_t kPage = 4096;

struct Share {
    std::size_t first = 0, bytes = 0;
};
// The contiguous part of an array that member `index` of `count` works on. Parts begin on pages of
// 4 KiB, so that no two members write to one page, and lie the same way in arrays of one size.
Share share_of(std::size_t bytes, int index, int count);

}  // namespace assay::cpu
