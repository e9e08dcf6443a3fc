#include "base/units.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/error.h"
#include "expect_error.h"

namespace assay {
namespace {

constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();

TEST(ParseSize, ReadsSuffixesAsPowersOf1024) {
    EXPECT_EQ(parse_size("0"), 0U);
    EXPECT_EQ(parse_size("1000"), 1000U);
    EXPECT_EQ(parse_size("512B"), 512U);
    EXPECT_EQ(parse_size("64K"), 65536U);
    EXPECT_EQ(parse_size("64KB"), 65536U);
    EXPECT_EQ(parse_size("64KiB"), 65536U);
    EXPECT_EQ(parse_size("3M"), 3U << 20);
    EXPECT_EQ(parse_size("2G"), std::uint64_t{2} << 30);
    EXPECT_EQ(parse_size("5T"), std::uint64_t{5} << 40);
    EXPECT_EQ(parse_size("18446744073709551615"), kMax);
    EXPECT_EQ(parse_size("16777215T"), std::uint64_t{16777215} << 40);
}

TEST(ParseSize, RefusesWhatIsNoCountOfBytes) {
    for (const auto* text : {"", "K", "-1", "+1", "1.5K", "64k", "64X", "64Ki", "64KiBs", " 64",
                             "64 K", "64KK", "0x10", "1e3", "64iB"}) {
        expect_error<UsageError>([&] { parse_size(text); },
                                 "size \"" + std::string(text) + "\" is not a size", "64K");
    }
}

TEST(ParseSize, RefusesOverflow) {
    for (const auto* text :
         {"18446744073709551616", "16777216T", "99999999999999999999999K", "17179869184G"}) {
        expect_error<UsageError>([&] { parse_size(text); },
                                 "size \"" + std::string(text) + "\" is too large",
                                 "18446744073709551615");
    }
}

TEST(ParseSize, KeepsAnErrorOnOneLine) {
    expect_error<UsageError>([] { parse_size("1\n2"); }, R"(size "1\n2" is not a size)", "64K");
}

TEST(SizeLabel, UsesTheLargestUnitThatIsExact) {
    EXPECT_EQ(size_label(0), "0");
    EXPECT_EQ(size_label(1000), "1000");
    EXPECT_EQ(size_label(1536), "1536");
    EXPECT_EQ(size_label(65536), "64K");
    EXPECT_EQ(size_label(1 << 20), "1M");
    EXPECT_EQ(size_label(std::uint64_t{1} << 50), "1024T");
    EXPECT_EQ(size_label(kMax), "18446744073709551615");
}

TEST(SizeLabel, IsReadBackByParseSize) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i) {
        const auto bytes = (random() >> (random() % 64)) << (random() % 64);
        EXPECT_EQ(parse_size(size_label(bytes)), bytes);
    }
}

TEST(ParseInteger, ReadsTheWholeRange) {
    EXPECT_EQ(parse_integer("42", "seed"), 42);
    EXPECT_EQ(parse_integer("-7", "seed"), -7);
    EXPECT_EQ(parse_integer("9223372036854775807", "seed"), INT64_MAX);
    EXPECT_EQ(parse_integer("-9223372036854775808", "seed"), INT64_MIN);
}

TEST(ParseInteger, NamesWhatItRefuses) {
    for (const auto* text : {"", "x", "1.0", "1e3", "42 ", "+1", "0x1"}) {
        expect_error<UsageError>([&] { parse_integer(text, "seed"); },
                                 "seed \"" + std::string(text) + "\" is not a whole number",
                                 "decimal digits");
    }
    expect_error<UsageError>([] { parse_integer("9223372036854775808", "seed"); },
                             R"(seed "9223372036854775808" is out of range)", "2^63");
}

TEST(ParseNumber, ReadsDecimalsWithAPoint) {
    EXPECT_EQ(parse_number("0.5", "margin"), 0.5);
    EXPECT_EQ(parse_number("-1e-3", "margin"), -1e-3);
    EXPECT_EQ(parse_number("3", "margin"), 3.0);
}

TEST(ParseNumber, NamesWhatItRefuses) {
    for (const auto* text : {"", "0,5", "1.5x", "nan", "inf", "-inf", "0x1p3", " 1"}) {
        expect_error<UsageError>([&] { parse_number(text, "margin"); },
                                 "margin \"" + std::string(text) + "\" is not a number", "point");
    }
    expect_error<UsageError>([] { parse_number("1e999", "margin"); },
                             R"(margin "1e999" is out of range)", "1e308");
}

TEST(ParseSeconds, ReadsEveryUnit) {
    EXPECT_EQ(parse_seconds("10"), 10.0);
    EXPECT_EQ(parse_seconds("90s"), 90.0);
    EXPECT_EQ(parse_seconds("1.5m"), 90.0);
    EXPECT_EQ(parse_seconds("250ms"), 0.25);
    EXPECT_EQ(parse_seconds("2h"), 7200.0);
}

TEST(ParseSeconds, RefusesOtherText) {
    for (const auto* text : {"", "s", "1d", "1 s", "1,5s", "1e999"}) {
        expect_error<UsageError>([&] { parse_seconds(text); },
                                 "time \"" + std::string(text) + "\" is not a time", "90s");
    }
    for (const auto* text : {"-1s", "-0s", "inf", "nan", "1e308h"}) {
        expect_error<UsageError>([&] { parse_seconds(text); },
                                 "time \"" + std::string(text) + "\" is negative or not finite",
                                 "90s");
    }
}

TEST(FormatBytes, GoesToTheNextUnitInsteadOfPrinting1024) {
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(1000), "1000 B");
    EXPECT_EQ(format_bytes(1536), "1.50 KiB");
    EXPECT_EQ(format_bytes(1023.9 * 1024), "1.00 MiB");
    EXPECT_EQ(format_bytes(1010.0 * 1024), "1010 KiB");
    EXPECT_EQ(format_bytes(139.8 * 1024 * 1024 * 1024), "140 GiB");
    EXPECT_EQ(format_bytes(-2048), "-2.00 KiB");
    EXPECT_EQ(format_bytes(std::ldexp(1.0, 60)), "1.00 EiB");
}

TEST(FormatNumber, KeepsSignificantDigitsWithoutExponent) {
    EXPECT_EQ(format_number(0), "0");
    EXPECT_EQ(format_number(1234.5), "1234");
    EXPECT_EQ(format_number(0.012346), "0.01235");
    EXPECT_EQ(format_number(123456), "123456");
    EXPECT_EQ(format_number(9.9996), "10.00");
    EXPECT_EQ(format_number(-2.5, 2), "-2.5");
    EXPECT_EQ(format_number(0.001), "0.001000");
    EXPECT_EQ(format_number(1e15), "1000000000000000");
}

TEST(FormatNumber, UsesAnExponentBeyondThatRange) {
    EXPECT_EQ(format_number(1.2345e-7, 3), "1.23e-07");
    EXPECT_EQ(format_number(2e18), "2.000e+18");
    EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "nan");
    EXPECT_EQ(format_number(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(FormatSeconds, PicksTheUnit) {
    EXPECT_EQ(format_seconds(0), "0 s");
    EXPECT_EQ(format_seconds(0.00123), "1.23 ms");
    EXPECT_EQ(format_seconds(1.5e-10), "0.150 ns");
    EXPECT_EQ(format_seconds(2e-8), "20.0 ns");
    EXPECT_EQ(format_seconds(4.567e-5), "45.7 us");
    EXPECT_EQ(format_seconds(0.0009999), "1.00 ms");
    EXPECT_EQ(format_seconds(0.99999), "1.00 s");
    EXPECT_EQ(format_seconds(12.34), "12.3 s");
    EXPECT_EQ(format_seconds(-0.5), "-500 ms");
}

TEST(FormatSeconds, SaysMinutesAndHours) {
    EXPECT_EQ(format_seconds(59.99), "1 min 0 s");
    EXPECT_EQ(format_seconds(90), "1 min 30 s");
    EXPECT_EQ(format_seconds(3599.6), "1 h 0 min");
    EXPECT_EQ(format_seconds(7500), "2 h 5 min");
    EXPECT_EQ(format_seconds(-90), "-1 min 30 s");
}

TEST(ExactNumber, IsShort) {
    EXPECT_EQ(exact_number(0.1), "0.1");
    EXPECT_EQ(exact_number(1), "1");
    EXPECT_EQ(exact_number(-2.5), "-2.5");
}

TEST(ExactNumber, ReadsBackAsTheSameDouble) {
    std::mt19937_64 random(2);
    for (int i = 0; i < 50000; ++i) {
        const auto value = std::bit_cast<double>(random());
        if (!std::isfinite(value)) continue;
        EXPECT_EQ(std::bit_cast<std::uint64_t>(parse_number(exact_number(value), "value")),
                  std::bit_cast<std::uint64_t>(value));
    }
    constexpr auto kSmallest = std::numeric_limits<double>::denorm_min();
    EXPECT_EQ(parse_number(exact_number(kSmallest), "value"), kSmallest);
}

}  // namespace
}  // namespace assay
