#include "work/score_modifier.h"

#include <gtest/gtest.h>

#include "base/expect_error.h"

namespace assay::work {
namespace {

TEST(ScoreModifier, ItsNameIsReadBack) {
    for (const char* text : {"none", "softcap:50", "softcap:0.5", "alibi", "bias", "alibi+bias",
                             "softcap:30+alibi+bias", "softcap:1e20"}) {
        EXPECT_EQ(name(parse_score_modifier(text)), text);
    }
    EXPECT_TRUE(parse_score_modifier("none").is_none());
    EXPECT_EQ(name(parse_score_modifier("bias+softcap:2")), "softcap:2+bias");
}

TEST(ScoreModifier, SaysWhatIsWrong) {
    expect_error<UsageError>([] { parse_score_modifier("cap:5"); }, "unknown modifier \"cap:5\"",
                             "softcap:C");
    for (const char* text :
         {"softcap:0", "softcap:-1", "softcap:x", "softcap:", "softcap:inf", "softcap:nan"}) {
        EXPECT_THROW(parse_score_modifier(text), UsageError) << text;
    }
    // What is infinite or 0 in fp32.
    for (const char* text : {"softcap:1e39", "softcap:1e-50"}) {
        expect_error<UsageError>([&] { parse_score_modifier(text); },
                                 "modifier " + std::string(text) + " isn't within 1e-20 .. 1e+20",
                                 "softcap:50");
    }
    EXPECT_EQ(parse_score_modifier("softcap:1e-20").soft_cap, 1e-20);
    ScoreModifier modifier;
    validate(modifier);
    modifier.soft_cap = 1e39;
    expect_error<UsageError>([&] { validate(modifier); },
                             "modifier softcap:1e+39 isn't within 1e-20 .. 1e+20", "softcap:50");
}

TEST(ScoreModifier, AlibiSlopesOfEightHeads) {
    for (int head = 0; head < 8; ++head) {
        EXPECT_DOUBLE_EQ(alibi_slope(head, 8), 1.0 / (2 << head));
    }
}

}  // namespace
}  // namespace assay::work
