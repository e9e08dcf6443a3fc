#include "base/text.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "expect_error.h"

namespace assay {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kCommands{"gemm", "memory", "info", "selftest"};

TEST(Split, KeepsEmptyParts) {
    EXPECT_THAT(split("a,b", ','), ElementsAre("a", "b"));
    EXPECT_THAT(split("", ','), ElementsAre(""));
    EXPECT_THAT(split(",a,", ','), ElementsAre("", "a", ""));
}

TEST(Join, IsTheInverseOfSplit) {
    EXPECT_EQ(join({}, ","), "");
    for (const auto* text : {"", "a", "a,b", ",,", "a,,b,"}) {
        EXPECT_EQ(join(split(text, ','), ","), text);
    }
}

TEST(Trim, TakesSpaceFromBothEnds) {
    EXPECT_EQ(trim("  a b\t\r\n"), "a b");
    EXPECT_EQ(trim("a"), "a");
    EXPECT_EQ(trim(" \t"), "");
    EXPECT_EQ(trim(""), "");
}

TEST(Nearest, FindsASlipOfTheFingers) {
    EXPECT_EQ(nearest("gem", kCommands), "gemm");
    EXPECT_EQ(nearest("memroy", kCommands), "memory");
    EXPECT_EQ(nearest("MEMORY", kCommands), "memory");
    EXPECT_EQ(nearest("self-test", kCommands), "selftest");
}

TEST(Nearest, FindsNothingForAnotherWord) {
    EXPECT_EQ(nearest("attention", kCommands), "");
    EXPECT_EQ(nearest("x", kCommands), "");
    EXPECT_EQ(nearest("", kCommands), "");
    EXPECT_EQ(nearest("gemm", {}), "");
}

TEST(Nearest, PrefersTheCloserWord) {
    const std::vector<std::string> types{"fp16x", "fp16", "bf16"};
    EXPECT_EQ(nearest("fp16", types), "fp16");
    EXPECT_EQ(nearest("bf17", types), "bf16");
}

TEST(ThrowUnknown, SuggestsTheNearestWord) {
    expect_error<UsageError>([] { throw_unknown("command", "gem", kCommands); },
                             R"(unknown command "gem")", R"(did you mean "gemm"?)");
}

TEST(ThrowUnknown, ListsAllWordsWhenNoneIsNear) {
    expect_error<UsageError>([] { throw_unknown("command", "fly", kCommands); },
                             R"(unknown command "fly")", "known: gemm, memory, info, selftest");
}

TEST(ThrowUnknown, KeepsAnErrorOnOneLine) {
    expect_error<UsageError>([] { throw_unknown("command", "a\n\x1b[31m", kCommands); },
                             R"(unknown command "a\n\x1b[31m")", "known: ");
}

}  // namespace
}  // namespace assay
