// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011. A counter-based generator: four random words are a pure function of a counter and a key.
#pragma once

#include <cstdint>

#include "work/host_device.h"

namespace assay::work {

struct Words4 {
    std::uint32_t w[4];
};

ASSAY_HOST_DEVICE constexpr std::uint32_t high_product(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
}

ASSAY_HOST_DEVICE constexpr Words4 philox(Words4 counter, std::uint32_t key0, std::uint32_t key1) {
    constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
    constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;  // golden ratio, sqrt(3) - 1
    Words4 x = counter;
    for (int round = 0; round < 10; ++round) {
        const auto next0 = high_product(kMultiplier1, x.w[2]) ^ x.w[1] ^ key0;
        const auto next2 = high_product(kMultiplier0, x.w[0]) ^ x.w[3] ^ key1;
        x = {{next0, kMultiplier1 * x.w[2], next2, kMultiplier0 * x.w[0]}};
        key0 += kWeyl0;
        key1 += kWeyl1;
    }
    return x;
}

}  // namespace assay::work
