#include "work/fill.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/expect_error.h"
#include "golden_fill.h"
#include "work/element.h"

namespace assay::work {
namespace {

constexpr Type kTypes[] = {Type::fp64, Type::fp32,       Type::tf32,         Type::fp16,
                           Type::bf16, Type::fp8_e4m3fn, Type::fp8_e4m3fnuz, Type::fp8_e5m2,
                           Type::int8, Type::int32};
constexpr Distribution kDistributions[] = {Distribution::normal, Distribution::uniform,
                                           Distribution::zeros, Distribution::ones,
                                           Distribution::ints};

std::vector<std::uint8_t> filled(const FillSpec& spec, Type type, std::uint64_t first,
                                 std::uint64_t count) {
    std::vector<std::uint8_t> bytes(count * size_of(type));
    fill(spec, type, first, count, bytes.data());
    return bytes;
}

TEST(Fill, GivesTheGoldenBits) {
    for (const auto& golden : kGoldenFill) {
        const auto bytes = filled(golden_spec(golden.distribution), golden.type, 0, kGoldenCount);
        EXPECT_EQ(fnv1a(bytes.data(), bytes.size()), golden.hash)
            << name(golden.distribution) << ' ' << name(golden.type);
    }
}

TEST(Fill, GoldenTableHasEveryDistributionAndType) {
    std::size_t rows = 0;
    for (const Distribution distribution : kDistributions) {
        for (const Type type : kTypes) {
            ASSERT_LT(rows, std::size(kGoldenFill));
            EXPECT_EQ(kGoldenFill[rows].distribution, distribution);
            EXPECT_EQ(kGoldenFill[rows].type, type);
            ++rows;
        }
    }
    EXPECT_EQ(rows, std::size(kGoldenFill));
}

TEST(Fill, AnyPartEqualsThatPartOfTheWhole) {
    const FillSpec spec{Distribution::normal, 0x123456789ABCDEF0, 3};
    const auto whole = filled(spec, Type::bf16, 0, 5000);
    for (const std::uint64_t first : {1U, 2U, 3U, 4U, 1021U, 1024U, 1025U, 4093U}) {
        for (const std::uint64_t count : {0U, 1U, 3U, 4U, 900U}) {
            const auto part = filled(spec, Type::bf16, first, count);
            const auto from = whole.begin() + static_cast<std::ptrdiff_t>(2 * first);
            EXPECT_TRUE(std::equal(part.begin(), part.end(), from)) << first << ' ' << count;
        }
    }
}

TEST(Fill, WritesNothingBeyondItsElements) {
    std::vector<std::uint8_t> bytes(2 * 1500 + 2, 0xA5);
    fill({Distribution::ones, 0, 0}, Type::bf16, 0, 1500, bytes.data());
    EXPECT_EQ(bytes[2 * 1500], 0xA5);
    EXPECT_EQ(bytes[2 * 1500 + 1], 0xA5);
}

TEST(Fill, EveryElementCanBeRecomputed) {
    for (const Distribution distribution : kDistributions) {
        for (const Type type : kTypes) {
            const FillSpec spec{distribution, 99, 1};
            const std::uint64_t first = (std::uint64_t{1} << 34) + 5;  // counters beyond 32 bits
            const auto bytes = filled(spec, type, first, 50);
            for (std::uint64_t i = 0; i < 50; ++i) {
                ASSERT_EQ(load(type, bytes.data(), i), fill_value(spec, type, first + i))
                    << name(distribution) << ' ' << name(type);
            }
        }
    }
}

TEST(Fill, KernelsElementIsTheSame) {
    const FillSpec spec{Distribution::normal, 5, 2};
    const auto bytes = filled(spec, Type::fp16, 0, 100);
    for (std::uint64_t i = 0; i < 100; ++i) {
        const auto code = element<Distribution::normal, Type::fp16>(spec, i);
        ASSERT_EQ(std::memcmp(&code, bytes.data() + 2 * i, 2), 0) << i;
    }
}

TEST(Fill, SeedsAndStreamsDiffer) {
    const auto base = filled({Distribution::normal, 1, 0}, Type::fp32, 0, 16);
    EXPECT_NE(filled({Distribution::normal, 2, 0}, Type::fp32, 0, 16), base);
    EXPECT_NE(filled({Distribution::normal, 1 + (std::uint64_t{1} << 32), 0}, Type::fp32, 0, 16),
              base);
    EXPECT_NE(filled({Distribution::normal, 1, 1}, Type::fp32, 0, 16), base);
}

// The nearest number of each type to the value that fp64 holds exactly.
TEST(Fill, EveryTypeHoldsTheSameValueRounded) {
    for (const Distribution distribution : {Distribution::normal, Distribution::uniform}) {
        const FillSpec spec{distribution, 11, 0};
        for (const Type type : {Type::fp32, Type::tf32, Type::fp16, Type::bf16, Type::fp8_e4m3fn,
                                Type::fp8_e4m3fnuz, Type::fp8_e5m2}) {
            for (std::uint64_t i = 0; i < 1000; ++i) {
                const double exact = fill_value(spec, Type::fp64, i);
                const double smallest = type == Type::fp8_e5m2 ? 0x1p-17 : 0x1p-10;
                const double limit = std::max(std::abs(exact) * unit_roundoff(type), smallest);
                ASSERT_NEAR(fill_value(spec, type, i), exact, limit * 1.001) << name(type);
            }
        }
    }
}

TEST(Fill, IntegersHoldScaledValues) {
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const FillSpec normal{Distribution::normal, 4, 0}, uniform{Distribution::uniform, 4, 0};
        const double z = fill_value(normal, Type::fp64, i), u = fill_value(uniform, Type::fp64, i);
        const double small = std::clamp(std::nearbyint(32 * z), -128.0, 127.0);
        ASSERT_EQ(fill_value(normal, Type::int8, i), small);
        ASSERT_EQ(fill_value(normal, Type::int32, i), small);
        ASSERT_EQ(fill_value(uniform, Type::int8, i), std::nearbyint(127 * u));
    }
}

TEST(Fill, UniformSpansItsRangeEvenly) {
    const FillSpec spec{Distribution::uniform, 21, 0};
    constexpr std::size_t kCount = 1'000'000;
    std::vector<float> values(kCount);
    fill(spec, Type::fp32, 0, kCount, values.data());
    double sum = 0, squares = 0;
    for (const float value : values) {
        ASSERT_GE(value, -1.0F);
        ASSERT_LT(value, 1.0F);
        const auto u = static_cast<double>(value);
        sum += u;
        squares += u * u;
    }
    EXPECT_NEAR(sum / kCount, 0, 4 * std::sqrt(1.0 / 3 / kCount));
    EXPECT_NEAR(squares / kCount, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / kCount));
}

TEST(Fill, SmallIntegersAreEquallyLikely) {
    const FillSpec spec{Distribution::ints, 22, 0};
    constexpr std::size_t kCount = 1'000'000;
    std::vector<std::int8_t> values(kCount);
    fill(spec, Type::int8, 0, kCount, values.data());
    std::array<int, 5> counts{};
    for (const auto value : values) counts.at(static_cast<std::size_t>(value + 2)) += 1;
    for (const int count : counts) EXPECT_NEAR(count, kCount / 5, 4 * std::sqrt(0.16 * kCount));
}

TEST(Fill, ConstantsAreThemselvesInEveryType) {
    for (const Type type : kTypes) {
        EXPECT_EQ(fill_value({Distribution::zeros, 1, 1}, type, 7), 0) << name(type);
        EXPECT_EQ(fill_value({Distribution::ones, 1, 1}, type, 7), 1) << name(type);
    }
}

TEST(Store, RoundsAndSaturatesByType) {
    const double infinity = std::numeric_limits<double>::infinity();
    const auto stored = [](Type type, double value) {
        std::array<std::byte, 8> element{};
        store(type, value, element.data());
        return load(type, element.data(), 0);
    };
    for (const Type type : kTypes) {
        for (const double value : {0.0, 1.0, -2.0, 3.0}) EXPECT_EQ(stored(type, value), value);
    }
    EXPECT_EQ(stored(Type::fp64, 0.1), 0.1);
    EXPECT_EQ(stored(Type::fp32, 1 + 0x1p-25), 1);
    EXPECT_EQ(stored(Type::tf32, 1 + 0x1p-11), 1);
    EXPECT_EQ(stored(Type::bf16, 1 + 3 * 0x1p-8), 1 + 0x1p-6);
    EXPECT_EQ(stored(Type::fp16, 1e6), infinity);
    EXPECT_EQ(stored(Type::fp8_e4m3fn, -1e6), -448);
    EXPECT_EQ(stored(Type::int8, 2.5), 2);
    EXPECT_EQ(stored(Type::int8, 1000), 127);
    EXPECT_EQ(stored(Type::int8, -infinity), -128);
    EXPECT_EQ(stored(Type::int32, 1e12), 2147483647);
    EXPECT_EQ(stored(Type::int32, std::nan("")), 0);
}

TEST(Distribution, ReadsBackItsName) {
    for (const Distribution each : kDistributions) {
        EXPECT_EQ(parse_distribution(name(each)), each) << name(each);
    }
    expect_error<UsageError>([] { parse_distribution("gauss"); }, R"(unknown distribution "gauss")",
                             "normal, uniform");
}

}  // namespace
}  // namespace assay::work
