#include "stats/verdict.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay::stats {
namespace {

TEST(Verdict, FollowsFromWhereTheIntervalLies) {
    EXPECT_EQ(verdict({1.02, 1.04}), Verdict::Slower);
    EXPECT_EQ(verdict({0.96, 0.98}), Verdict::Faster);
    EXPECT_EQ(verdict({0.99, 1.01}), Verdict::Same);
    EXPECT_EQ(verdict({1.00, 1.02}), Verdict::Ambiguous);
    EXPECT_EQ(verdict({0.98, 1.00}), Verdict::Ambiguous);
    EXPECT_EQ(verdict({0.90, 1.10}), Verdict::Ambiguous);
}

TEST(Verdict, TheMarginItselfIsStillTheSame) {
    EXPECT_EQ(verdict({1.0, 1.015}), Verdict::Same);
    EXPECT_EQ(verdict({1.0 / 1.015, 1.0}), Verdict::Same);
    EXPECT_EQ(verdict({1.015, 1.03}), Verdict::Ambiguous);
    EXPECT_EQ(verdict({1.0, 1.0}, 0.0), Verdict::Same);
}

TEST(Verdict, AWiderMarginTurnsSlowerIntoSame) {
    const Interval interval{1.02, 1.04};
    EXPECT_EQ(verdict(interval, 0.03), Verdict::Ambiguous);
    EXPECT_EQ(verdict(interval, 0.05), Verdict::Same);
}

TEST(Verdict, ExchangingOldAndNewExchangesSlowerAndFaster) {
    for (double lo = 0.9; lo < 1.1; lo += 0.0031) {
        for (double width = 0.0; width < 0.1; width += 0.0043) {
            const auto forward = verdict({lo, lo + width});
            const auto backward = verdict({1.0 / (lo + width), 1.0 / lo});
            auto exchanged = forward;
            if (forward == Verdict::Slower) exchanged = Verdict::Faster;
            if (forward == Verdict::Faster) exchanged = Verdict::Slower;
            EXPECT_EQ(backward, exchanged) << lo << " + " << width;
        }
    }
}

TEST(Verdict, NotANumberIsAmbiguous) {
    const double nan = std::nan("");
    EXPECT_EQ(verdict({nan, nan}), Verdict::Ambiguous);
    EXPECT_EQ(verdict({nan, 0.5}), Verdict::Ambiguous);
    EXPECT_EQ(verdict({2.0, nan}), Verdict::Ambiguous);
}

TEST(Verdict, HasAName) {
    EXPECT_EQ(name(Verdict::Slower), "SLOWER");
    EXPECT_EQ(name(Verdict::Faster), "FASTER");
    EXPECT_EQ(name(Verdict::Same), "SAME");
    EXPECT_EQ(name(Verdict::Ambiguous), "AMBIGUOUS");
}

}  // namespace
}  // namespace assay::stats
