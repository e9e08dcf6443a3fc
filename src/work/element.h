// How one operand element comes from its random word: what work::fill runs on the host and back
// ends run in their kernels.
//
// Counter (i / 4, stream) under the key (seed) gives the words of elements 4 (i / 4) .. + 3. A word
// becomes a fixed-point value in units of 2^-28, and that the nearest number of the operand's type;
// formats narrower than fp32 take the fp32 value.
#pragma once

#include <cstdint>

#include "work/fill.h"
#include "work/host_device.h"
#include "work/normal.h"
#include "work/number_format.h"
#include "work/philox.h"
#include "work/type.h"

namespace assay::work {

// The words of elements 4 group .. 4 group + 3.
ASSAY_HOST_DEVICE constexpr Words4 random_words(const FillSpec& spec, std::uint64_t group) {
    return philox({{static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32),
                    spec.stream, 0}},
                  static_cast<std::uint32_t>(spec.seed),
                  static_cast<std::uint32_t>(spec.seed >> 32));
}

template <Distribution distribution>
ASSAY_HOST_DEVICE inline std::int32_t fixed_value(std::uint32_t word) {
    constexpr std::int32_t kOne = std::int32_t{1} << kFixedFractionBits;
    if constexpr (distribution == Distribution::normal) {
        return normal_of(word);
    } else if constexpr (distribution == Distribution::uniform) {
        // 24 bits, so that fp32 holds every value; shifted up as the unit is 2^-28.
        return static_cast<std::int32_t>(word & 0xFFFFFF00) >> (31 - kFixedFractionBits);
    } else if constexpr (distribution == Distribution::ints) {
        return (static_cast<std::int32_t>(high_product(word, 5)) - 2) * kOne;
    } else {
        return distribution == Distribution::ones ? kOne : 0;
    }
}

template <Type type>
constexpr auto zero_of() {
    if constexpr (type == Type::fp64) {
        return double{};
    } else if constexpr (type == Type::fp32 || type == Type::tf32) {
        return float{};
    } else if constexpr (type == Type::fp16 || type == Type::bf16) {
        return std::uint16_t{};
    } else if constexpr (type == Type::int8) {
        return std::int8_t{};
    } else if constexpr (type == Type::int32) {
        return std::int32_t{};
    } else {
        return std::uint8_t{};
    }
}
// What holds an element of `type` in memory: the code of a number format where C++ has no such
// type.
template <Type type>
using Stored = decltype(zero_of<type>());

template <Type type>
ASSAY_HOST_DEVICE constexpr NumberFormat format_of() {
    if constexpr (type == Type::fp16) return kFp16;
    if constexpr (type == Type::bf16) return kBf16;
    if constexpr (type == Type::fp8_e4m3fn) return kFp8E4m3fn;
    if constexpr (type == Type::fp8_e4m3fnuz) return kFp8E4m3fnuz;
    if constexpr (type == Type::fp8_e5m2) return kFp8E5m2;
}

// Integer types hold 32 x of normal, whose range they would else waste, and int8 127 x of uniform.
template <Distribution distribution>
ASSAY_HOST_DEVICE constexpr std::int32_t integer_value(std::int32_t fixed) {
    constexpr std::int64_t kScale = distribution == Distribution::normal    ? 32
                                    : distribution == Distribution::uniform ? 127
                                                                            : 1;
    const std::int64_t scaled = kScale * fixed;
    const std::int64_t odd = (scaled >> kFixedFractionBits) & 1;
    const std::int64_t half = (std::int64_t{1} << (kFixedFractionBits - 1)) - 1;
    const auto rounded = static_cast<std::int32_t>((scaled + half + odd) >> kFixedFractionBits);
    return rounded < -128 ? -128 : rounded > 127 ? 127 : rounded;
}

// An fp32 number in a floating-point type no wider.
template <Type type>
ASSAY_HOST_DEVICE constexpr Stored<type> narrowed(float value) {
    if constexpr (type == Type::fp32) {
        return value;
    } else if constexpr (type == Type::tf32) {
        return bits_as<float>(round_to_tf32(bits_as<std::uint32_t>(value)));
    } else {
        return static_cast<Stored<type>>(encode<format_of<type>()>(bits_as<std::uint32_t>(value)));
    }
}

template <Distribution distribution, Type type>
ASSAY_HOST_DEVICE constexpr Stored<type> stored_value(std::int32_t fixed) {
    constexpr float kUnit = 1.0F / (std::int32_t{1} << kFixedFractionBits);
    if constexpr (type == Type::fp64) {
        return fixed * static_cast<double>(kUnit);
    } else if constexpr (type == Type::int8 || type == Type::int32) {
        return static_cast<Stored<type>>(integer_value<distribution>(fixed));
    } else {
        // The conversion rounds once, the product is exact.
        return narrowed<type>(static_cast<float>(fixed) * kUnit);
    }
}

template <Distribution distribution, Type type>
ASSAY_HOST_DEVICE inline Stored<type> element(const FillSpec& spec, std::uint64_t index) {
    return stored_value<distribution, type>(
        fixed_value<distribution>(random_words(spec, index / 4).w[index % 4]));
}

}  // namespace assay::work
