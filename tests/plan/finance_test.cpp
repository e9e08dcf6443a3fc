#include "plan/finance.h"

#include <gtest/gtest.h>

namespace assay::plan {
namespace {

// SemiAnalysis' sheet of an owned server of 8 H200: to the cent.
TEST(Finance, AnnuityOfThePublishedSheet) {
    EXPECT_NEAR(monthly_payment(361'255, 0.1025, 6), 6738.18, 0.005);
    EXPECT_NEAR(monthly_payment(361'255, 0.1025, 6) / 8 / 730, 1.1538, 0.00005);
}

// Textbook: 200,000 at 6 % for 30 years is 1,199.10 a month.
TEST(Finance, AnnuityOfATextbook) {
    EXPECT_NEAR(monthly_payment(200'000, 0.06, 30), 1199.10, 0.005);
}

TEST(Finance, WithoutInterestItIsDividedByTheMonths) {
    EXPECT_DOUBLE_EQ(monthly_payment(7200, 0, 6), 100);
    EXPECT_NEAR(monthly_payment(7200, 1e-12, 6), 100, 1e-6);
}

// Paying back and paying interest on what is left ends at the residual.
TEST(Finance, ResidualIsWhatIsLeftAtTheEnd) {
    const Financing financing{0.1025, 4, 0.2};
    double owed = 100'000;
    for (int month = 0; month < 48; ++month) {
        owed = owed * (1 + 0.1025 / 12) - capital_per_month(100'000, financing);
    }
    EXPECT_NEAR(owed, 20'000, 1e-6);
    EXPECT_DOUBLE_EQ(capital_per_month(1000, {0, 5, 1}), 0);
}

TEST(Finance, CostOfCapitalIsWeightedAfterTax) {
    EXPECT_NEAR(weighted_cost_of_capital(0.7, 0.09, 0.15, 0.21), 0.7 * 0.09 * 0.79 + 0.3 * 0.15,
                1e-12);
    EXPECT_DOUBLE_EQ(weighted_cost_of_capital(0, 0.09, 0.15, 0.21), 0.15);
}

}  // namespace
}  // namespace assay::plan
