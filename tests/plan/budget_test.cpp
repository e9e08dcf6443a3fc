#include "plan/budget.h"

#include "base/expect_error.h"

namespace assay::plan {
namespace {

TEST(Budget, HasTwoMeanings) {
    EXPECT_DOUBLE_EQ(parse_budget("of-total:0.9").room(100, 60), 30);
    EXPECT_DOUBLE_EQ(parse_budget("of-free:0.9").room(100, 60), 36);
    EXPECT_EQ(parse_budget("0.85").text(), "of-total:0.85");
    EXPECT_EQ(parse_budget("of-free:1").text(), "of-free:1");
}

TEST(Budget, RoomIsNegativeByWhatIsMissing) {
    EXPECT_DOUBLE_EQ(parse_budget("of-total:0.9").room(100, 95), -5);
    EXPECT_DOUBLE_EQ(parse_budget("of-free:0.9").room(100, 110), -10);
}

TEST(Budget, NeverLeavesMoreThanTheDevice) {
    for (const char* text : {"of-total:0.5", "of-total:1", "of-free:0.5", "of-free:1"}) {
        for (double fixed = 0; fixed <= 120; fixed += 10) {
            const double room = parse_budget(text).room(100, fixed);
            if (room > 0) {
                EXPECT_LE(fixed + room, 100) << text << " " << fixed;
            }
        }
    }
}

TEST(Budget, NamesWhatHasNoMeaning) {
    const auto parse = [](const char* text) { return [text] { parse_budget(text); }; };
    expect_error<UsageError>(parse("of-all:0.9"), "unknown meaning of the budget \"of-all\"",
                             "of-total:0.9");
    expect_error<UsageError>(parse("of-total:1.5"),
                             "--budget of-total:1.5 is no fraction of a memory", "at most 1");
    expect_error<UsageError>(parse("0"), "--budget 0 is no fraction of a memory", "above 0");
    expect_error<UsageError>(parse("-0.5"), "--budget -0.5 is no fraction of a memory", "above 0");
    EXPECT_THROW(parse_budget("of-total:"), UsageError);
    EXPECT_THROW(parse_budget("of-total:nan"), UsageError);
}

}  // namespace
}  // namespace assay::plan
