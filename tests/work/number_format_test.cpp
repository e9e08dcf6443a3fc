#include "work/number_format.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace assay::work {
namespace {

// Written in doubles from the definitions, to check the integer code against.
template <NumberFormat format>
double value_of(std::uint32_t code) {
    const int sign_at = format.width - 1;
    if (!format.negative_zero && code == format.nan) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const std::uint32_t magnitude = code & ((1U << sign_at) - 1);
    double value = 0;
    if (format.infinity && magnitude == format.largest + 1) {
        value = std::numeric_limits<double>::infinity();
    } else if (magnitude > format.largest) {
        value = std::numeric_limits<double>::quiet_NaN();
    } else {
        const int exponent = static_cast<int>(magnitude >> format.fraction_bits);
        const auto fraction = static_cast<double>(magnitude & ((1U << format.fraction_bits) - 1)) /
                              (1U << format.fraction_bits);
        value = exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                              : std::ldexp(1 + fraction, exponent - format.bias);
    }
    return (code >> sign_at) != 0 ? -value : value;
}

std::uint32_t bits(double value) {
    return bits_as<std::uint32_t>(static_cast<float>(value));
}
double number(std::uint32_t fp32_bits) {
    return static_cast<double>(bits_as<float>(fp32_bits));
}

template <class Tag>
class EveryFormat : public testing::Test {};
template <NumberFormat format>
struct Tag {
    static constexpr NumberFormat kFormat = format;
};
using Formats =
    testing::Types<Tag<kFp16>, Tag<kBf16>, Tag<kFp8E4m3fn>, Tag<kFp8E4m3fnuz>, Tag<kFp8E5m2>>;
TYPED_TEST_SUITE(EveryFormat, Formats);

TYPED_TEST(EveryFormat, DecodesEveryCodeExactly) {
    constexpr NumberFormat format = TypeParam::kFormat;
    for (std::uint32_t code = 0; code < 1U << format.width; ++code) {
        const double expected = value_of<format>(code);
        const double got = number(decode<format>(code));
        if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(got)) << code;
        } else {
            ASSERT_EQ(got, expected) << code;
            ASSERT_EQ(std::signbit(got), std::signbit(expected)) << code;
        }
    }
}

TYPED_TEST(EveryFormat, GivesBackEveryNumber) {
    constexpr NumberFormat format = TypeParam::kFormat;
    for (std::uint32_t code = 0; code < 1U << format.width; ++code) {
        const double value = value_of<format>(code);
        if (!std::isfinite(value)) continue;
        ASSERT_EQ(encode<format>(decode<format>(code)), code);
    }
}

// Between two neighbours: halfway goes to the even code, and the fp32 numbers just beside it to the
// nearer one.
TYPED_TEST(EveryFormat, RoundsToNearestTiesToEven) {
    constexpr NumberFormat format = TypeParam::kFormat;
    const std::uint32_t sign = 1U << (format.width - 1);
    for (std::uint32_t code = 0; code < format.largest; ++code) {
        const double middle = (value_of<format>(code) + value_of<format>(code + 1)) / 2;
        ASSERT_EQ(number(bits(middle)), middle);
        const std::uint32_t even = code % 2 == 0 ? code : code + 1;
        ASSERT_EQ(encode<format>(bits(middle)), even);
        ASSERT_EQ(encode<format>(bits(middle) - 1), code);
        ASSERT_EQ(encode<format>(bits(middle) + 1), code + 1);
        const std::uint32_t negative = even == 0 && !format.negative_zero ? 0 : even | sign;
        ASSERT_EQ(encode<format>(bits(-middle)), negative);
    }
}

TYPED_TEST(EveryFormat, KeepsToItsRuleBeyondTheRange) {
    constexpr NumberFormat format = TypeParam::kFormat;
    const double largest = value_of<format>(format.largest);
    const double step = largest - value_of<format>(format.largest - 1);
    const std::uint32_t beyond = format.saturates ? format.largest : format.largest + 1;
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(encode<format>(bits(largest + step / 2) - 1), format.largest);
    EXPECT_EQ(encode<format>(bits(largest + step / 2)), beyond);
    EXPECT_EQ(encode<format>(bits(infinity) - 1), beyond);
    EXPECT_EQ(encode<format>(bits(infinity)), beyond);
    EXPECT_EQ(encode<format>(bits(-infinity)), beyond | 1U << (format.width - 1));
    for (const std::uint32_t nan : {0x7FC00000U, 0x7F800001U, 0x7FFFFFFFU, 0xFFC00000U}) {
        EXPECT_TRUE(std::isnan(value_of<format>(encode<format>(nan)))) << std::hex << nan;
    }
}

TYPED_TEST(EveryFormat, TakesFp32SubnormalsForNothingUnlessItHasThem) {
    constexpr NumberFormat format = TypeParam::kFormat;
    const std::uint32_t expected = format.bias == 127 ? 0x7F : 0;  // bf16 truncates 16 bits
    EXPECT_EQ(encode<format>(0x7F0000), expected);
    EXPECT_EQ(encode<format>(1), 0U);
}

TEST(NumberFormat, HasTheRangesOfTheStandards) {
    EXPECT_EQ(value_of<kFp16>(kFp16.largest), 65504);
    EXPECT_EQ(value_of<kBf16>(kBf16.largest), 0x1.FEp127);
    EXPECT_EQ(value_of<kFp8E4m3fn>(kFp8E4m3fn.largest), 448);
    EXPECT_EQ(value_of<kFp8E4m3fnuz>(kFp8E4m3fnuz.largest), 240);
    EXPECT_EQ(value_of<kFp8E5m2>(kFp8E5m2.largest), 57344);
    EXPECT_EQ(value_of<kFp8E4m3fn>(1), 0x1p-9);
    EXPECT_EQ(value_of<kFp8E4m3fnuz>(1), 0x1p-10);
    EXPECT_EQ(value_of<kFp8E5m2>(1), 0x1p-16);
}

TEST(RoundToTf32, KeepsTenFractionBits) {
    EXPECT_EQ(number(round_to_tf32(bits(1 + 0x1p-10))), 1 + 0x1p-10);
    EXPECT_EQ(number(round_to_tf32(bits(1 + 0x1p-11))), 1);
    EXPECT_EQ(number(round_to_tf32(bits(-(1 + 3 * 0x1p-11)))), -(1 + 2 * 0x1p-10));
    EXPECT_EQ(number(round_to_tf32(bits(1 + 0x1.8p-11))), 1 + 0x1p-10);
    EXPECT_EQ(round_to_tf32(0x7F800000), 0x7F800000U);
    EXPECT_TRUE(std::isnan(number(round_to_tf32(0x7F800001))));
}

}  // namespace
}  // namespace assay::work
