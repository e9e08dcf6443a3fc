// Narrow floating-point formats, to and from the bits of an fp32 number, by integer arithmetic: the
// same bits on every machine, whatever its rounding mode and handling of subnormals.
//
// Encoding rounds to nearest, ties to even, subnormals included. Beyond the largest finite number
// (after rounding) fp16 and bf16 give infinity, as IEEE 754 does; the fp8 formats saturate,
// infinity included, as the converters of accelerators do. NaN gives the format's NaN; its payload
// is lost, its sign kept where the format has one. fp8: "OCP 8-bit Floating Point Specification",
// 2023; fnuz: Noune et al., arXiv 2206.02915.
#pragma once

#include <cstdint>

#include "work/host_device.h"

namespace assay::work {

template <class To, class From>
ASSAY_HOST_DEVICE constexpr To bits_as(From value) {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, value);
}

struct NumberFormat {
    int width;          // bits, the sign's included
    int fraction_bits;  // without the leading one
    int bias;
    std::uint32_t largest;  // code of the largest finite number
    std::uint32_t nan;      // code of NaN, without sign
    bool infinity;          // at largest + 1
    bool saturates;         // encoding gives `largest` for anything beyond it
    bool negative_zero;     // false: that code is the only NaN
};

inline constexpr NumberFormat kFp16{16, 10, 15, 0x7BFF, 0x7E00, true, false, true};
inline constexpr NumberFormat kBf16{16, 7, 127, 0x7F7F, 0x7FC0, true, false, true};
inline constexpr NumberFormat kFp8E4m3fn{8, 3, 7, 0x7E, 0x7F, false, true, true};
inline constexpr NumberFormat kFp8E4m3fnuz{8, 3, 8, 0x7F, 0x80, false, true, false};
inline constexpr NumberFormat kFp8E5m2{8, 2, 15, 0x7B, 0x7E, true, true, true};

// bits >> shift, rounded to nearest, ties to even; shift 1 .. 31.
ASSAY_HOST_DEVICE constexpr std::uint32_t round_shift(std::uint32_t bits, int shift) {
    const std::uint32_t odd = (bits >> shift) & 1;
    return (bits + (std::uint32_t{1} << (shift - 1)) - 1 + odd) >> shift;
}

// The code of an fp32 number given by its bits.
template <NumberFormat format>
ASSAY_HOST_DEVICE constexpr std::uint32_t encode(std::uint32_t bits) {
    constexpr int kShift = 23 - format.fraction_bits;
    constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - format.bias) << 23;
    constexpr std::uint32_t kSmallestNormal = kRebias + (std::uint32_t{1} << 23);

    // The fp32 number whose last place is the format's smallest subnormal: adding it rounds there.
    constexpr std::uint32_t kMagic = static_cast<std::uint32_t>(kShift + 128 - format.bias) << 23;

    const std::uint32_t magnitude = bits & 0x7FFFFFFF;
    const std::uint32_t sign = (bits >> 31) << (format.width - 1);
    const std::uint32_t normal = round_shift(magnitude - kRebias, kShift);
    const std::uint32_t subnormal =
        bits_as<std::uint32_t>(bits_as<float>(magnitude) + bits_as<float>(kMagic)) - kMagic;
    constexpr std::uint32_t kBeyond = format.largest + (format.saturates ? 0 : 1);
    std::uint32_t code = kRebias == 0 || magnitude >= kSmallestNormal ? normal : subnormal;
    code = code > format.largest ? kBeyond : code;
    code = magnitude > 0x7F800000 ? format.nan : code;
    if (!format.negative_zero && (code == 0 || code == format.nan)) return code;
    return code | sign;
}

// The fp32 bits of a code: exact.
template <NumberFormat format>
ASSAY_HOST_DEVICE constexpr std::uint32_t decode(std::uint32_t code) {
    constexpr std::uint32_t kSignBit = std::uint32_t{1} << (format.width - 1);
    constexpr int kShift = 23 - format.fraction_bits;
    constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - format.bias) << 23;
    constexpr std::uint32_t kQuietNan = 0x7FC00000;

    if (!format.negative_zero && code == format.nan) return kQuietNan;
    const std::uint32_t magnitude = code & (kSignBit - 1);
    const std::uint32_t sign = (code & kSignBit) != 0 ? 0x80000000 : 0;
    if (magnitude > format.largest) {
        const bool infinite = format.infinity && magnitude == format.largest + 1;
        return sign | (infinite ? 0x7F800000 : kQuietNan);
    }
    if (kRebias == 0 || magnitude >> format.fraction_bits != 0) {
        return sign | ((magnitude << kShift) + kRebias);
    }
    if (magnitude == 0) return sign;
    // Subnormal: `magnitude` times the format's smallest number, by its exponent.
    constexpr int kSmallest = 1 - format.bias - format.fraction_bits;
    const auto whole =
        bits_as<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)));
    return sign | (whole - (static_cast<std::uint32_t>(-kSmallest) << 23));
}

// fp32 bits with the fraction rounded to tf32's 10 bits.
ASSAY_HOST_DEVICE constexpr std::uint32_t round_to_tf32(std::uint32_t bits) {
    if ((bits & 0x7FFFFFFF) > 0x7F800000) return bits;
    return round_shift(bits & 0x7FFFFFFF, 13) << 13 | (bits & 0x80000000);
}

}  // namespace assay::work
