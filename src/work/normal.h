// The standard normal variable of a random word, by inversion of its distribution function, in
// fixed point: the same bits on every machine.
//
// The word's top bit is the sign; the others, plus a half, over 2^32, are the tail probability p in
// (0, 1/2). |z| of p is a cubic on each of eight segments an octave of p, so that the tail is as
// exact as the middle: within 2.5e-7 of the true inverse. The farthest value is +-6.338; z of a
// word and of the word with its top bit flipped are exactly opposite.
#pragma once

#include <cstdint>

#include "work/host_device.h"
#include "work/normal_table.h"
#include "work/number_format.h"

namespace assay::work {

// Values are integers in units of 2^-28.
inline constexpr int kFixedFractionBits = 28;

ASSAY_HOST_DEVICE constexpr std::int32_t scaled_product(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>((std::int64_t{a} * b) >> 32);
}

ASSAY_HOST_DEVICE inline std::int32_t normal_of(std::uint32_t word) {
    // p 2^32 as an fp32 number: its exponent and first three fraction bits name the segment, the
    // other twenty the place in it. The conversion and the sum are each rounded once.
    const float scaled = static_cast<float>(static_cast<std::int32_t>(word & 0x7FFFFFFF)) + 0.5F;
    const auto bits = bits_as<std::uint32_t>(scaled);
    const NormalSegment& s = normal_segment((bits >> 20) - kFirstNormalSegment);
    // -1/2 .. 1/2 across the segment, in units of 2^-32.
    const auto x = static_cast<std::int32_t>(bits << 12 ^ 0x80000000);
    const std::int32_t magnitude =
        s.c0 + scaled_product(s.c1 + scaled_product(s.c2 + scaled_product(s.c3, x), x), x);
    return static_cast<std::int32_t>(word) < 0 ? -magnitude : magnitude;
}

}  // namespace assay::work
