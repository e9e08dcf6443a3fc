#include "suite/budget.h"

#include <gtest/gtest.h>

namespace assay::suite {
namespace {

TEST(Budget, WithoutOneEveryCaseGetsItsLimit) {
    const Budget budget(0, 10, {1, 5});
    EXPECT_EQ(budget.share(0, 0), 10);
    EXPECT_EQ(budget.share(1, 1e6), 10);
}

TEST(Budget, SharesByWeight) {
    const Budget budget(60, 100, {1, 2, 3});
    EXPECT_DOUBLE_EQ(budget.share(0, 0), 10);
    EXPECT_DOUBLE_EQ(budget.share(1, 10), 20);
    EXPECT_DOUBLE_EQ(budget.share(2, 30), 30);
}

TEST(Budget, HandsOnWhatACaseDidNotUse) {
    const Budget budget(60, 100, {1, 1, 1});
    EXPECT_DOUBLE_EQ(budget.share(1, 2), 29);
    EXPECT_DOUBLE_EQ(budget.share(2, 4), 56);
}

TEST(Budget, NoCaseExceedsItsLimit) {
    const Budget budget(600, 10, {1, 1});
    EXPECT_EQ(budget.share(0, 0), 10);
}

TEST(Budget, TakesOffWhatCasesCostBesideSampling) {
    Budget budget(60, 100, {1, 1, 1});
    budget.spent(16, 12);
    EXPECT_DOUBLE_EQ(budget.share(1, 16), 22 - 4);
    budget.spent(24, 22);  // 6 s over two cases
    EXPECT_DOUBLE_EQ(budget.share(2, 40), 20 - 3);
}

TEST(Budget, SamplingOfSeveralThreadsIsNoNegativeCost) {
    Budget budget(60, 100, {1, 1});
    budget.spent(10, 15);
    EXPECT_DOUBLE_EQ(budget.share(1, 10), 50);
}

TEST(Budget, NeverGivesSoLittleThatNothingIsMeasured) {
    Budget budget(1, 10, {1, 1});
    budget.spent(100, 0);
    EXPECT_EQ(budget.share(1, 100), Budget::kLeast);
    EXPECT_EQ(Budget(5, 0.01, {1}).share(0, 0), Budget::kLeast);
}

// However long the cases take beside their sampling, the whole ends about when it should.
TEST(Budget, EndsOnTimeWhateverCasesCost) {
    for (const double cost : {0.0, 0.1, 0.5}) {
        const std::vector<double> weights(40, 1.0);
        Budget budget(60, 10, weights);
        double now = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const double share = budget.share(i, now);
            budget.spent(share + cost, share);
            now += share + cost;
        }
        EXPECT_GT(now, 55) << cost;
        EXPECT_LT(now, 61) << cost;
    }
}

}  // namespace
}  // namespace assay::suite
