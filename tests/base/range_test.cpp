#include "base/range.h"

#include <cstdint>

#include <gmock/gmock.h>

#include "base/error.h"
#include "expect_error.h"

namespace assay {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kMi = 1 << 20;

TEST(ParseSizes, ReadsListsAndRanges) {
    EXPECT_THAT(parse_sizes("16M"), ElementsAre(16 * kMi));
    EXPECT_THAT(parse_sizes("16M,64M..256M*2"),
                ElementsAre(16 * kMi, 64 * kMi, 128 * kMi, 256 * kMi));
    EXPECT_THAT(parse_sizes("8064..8320+64"), ElementsAre(8064, 8128, 8192, 8256, 8320));
    EXPECT_THAT(parse_sizes(" 1 , 2 "), ElementsAre(1, 2));
}

TEST(ParseSizes, StopsBeforeALastThatTheStepsMiss) {
    EXPECT_THAT(parse_sizes("1..10*3"), ElementsAre(1, 3, 9));
    EXPECT_THAT(parse_sizes("0..10+4"), ElementsAre(0, 4, 8));
    EXPECT_THAT(parse_sizes("7..7+1"), ElementsAre(7));
}

TEST(ParseSizes, ReadsASuffixInTheStep) {
    EXPECT_THAT(parse_sizes("1M..2M+512K"), ElementsAre(kMi, kMi + kMi / 2, 2 * kMi));
}

TEST(ParseSizes, EndsAtTheLargestNumberWithoutWrapping) {
    EXPECT_THAT(parse_sizes("18446744073709551614..18446744073709551615+7"),
                ElementsAre(UINT64_MAX - 1));
    EXPECT_THAT(parse_sizes("8388608T..18446744073709551615*2"),
                ElementsAre(std::uint64_t{1} << 63));
}

TEST(ParseSizes, RefusesOverflow) {
    expect_error<UsageError>([] { parse_sizes("1..18446744073709551616*2"); },
                             R"(size "18446744073709551616" is too large)", "18446744073709551615");
}

TEST(ParseSizes, RefusesRangesWithoutMeaning) {
    const auto refused = [](const char* text, const char* reason, const char* hint) {
        expect_error<UsageError>([&] { parse_sizes(text); },
                                 "range \"" + std::string(text) + "\" " + reason, hint);
    };
    refused("64..256", "has no step", "16M..256M*2");
    refused("8320..8064+64", "ends before it starts", "64..256+64");
    refused("1..9+0", "has step 0", "64..256+64");
    refused("1..9*1", "has a factor below 2", "16M..256M*2");
    refused("0..9*2", "multiplies 0", "start from 1");
}

TEST(ParseSizes, NamesTheSizeThatIsNone) {
    expect_error<UsageError>([] { parse_sizes("1..x+2"); }, R"(size "x" is not a size)", "64K");
    expect_error<UsageError>([] { parse_sizes("1..9+"); }, R"(size "" is not a size)", "64K");
    expect_error<UsageError>([] { parse_sizes("1...9+1"); }, R"(size ".9" is not a size)", "64K");
    expect_error<UsageError>([] { parse_sizes("1..9*-2"); }, R"(size "-2" is not a size)", "64K");
}

TEST(ParseSizes, RefusesEmptyItems) {
    for (const auto* text : {"", ",", "1,", ",1", "1,,2", "1, ,2"}) {
        expect_error<UsageError>([&] { parse_sizes(text); },
                                 "size list \"" + std::string(text) + "\" has an empty item",
                                 "single commas");
    }
}

TEST(ParseSizes, LimitsTheCount) {
    EXPECT_EQ(parse_sizes("1..10000+1").size(), 10'000U);
    expect_error<UsageError>([] { parse_sizes("1..10001+1"); },
                             R"(list "1..10001+1" has over 10000 values)", "larger step");
    expect_error<UsageError>([] { parse_sizes("1..10000+1,5"); },
                             R"(list "1..10000+1,5" has over 10000 values)", "fewer items");
    expect_error<UsageError>([] { parse_sizes("0..18446744073709551615+1"); },
                             R"(list "0..18446744073709551615+1" has over 10000 values)",
                             "larger step");
}

TEST(ParseWords, TrimsItems) {
    EXPECT_THAT(parse_words("bf16, fp8_e4m3fn", "type"), ElementsAre("bf16", "fp8_e4m3fn"));
}

TEST(ParseWords, NamesWhatIsEmpty) {
    expect_error<UsageError>([] { parse_words("bf16,", "type"); },
                             R"(type list "bf16," has an empty item)", "a,b,c");
}

}  // namespace
}  // namespace assay
