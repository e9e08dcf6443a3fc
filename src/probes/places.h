// Where a check looks into a large array.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::probes {

inline constexpr std::uint64_t kMostPlaces = 1000;

// Both ends of `elements` elements and places spread evenly between, each once; kMostPlaces at
// most.
std::vector<std::uint64_t> places(std::uint64_t elements);

}  // namespace assay::probes
