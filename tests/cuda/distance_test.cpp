#include "distance.h"

#include <gtest/gtest.h>

namespace assay::cuda {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Distance, IsRelativeToTheRightTensor) {
    Distance d;
    d.add(3.3, 3);
    d.add(4.4, 4);
    EXPECT_NEAR(d.value(), 0.1, 1e-12);
}

TEST(Distance, OfEqualTensorsIsZeroThoughTheyAre) {
    Distance d;
    EXPECT_EQ(d.value(), 0);
    d.add(0, 0);
    EXPECT_EQ(d.value(), 0);
}

TEST(Distance, IsInfiniteWhereOnlyTheRightOneIsZeroOrSomethingIsNotFinite) {
    Distance d;
    d.add(1e-9, 0);
    EXPECT_EQ(d.value(), kInfinity);
    Distance unset;
    unset.add(std::numeric_limits<double>::quiet_NaN(), 1);
    EXPECT_EQ(unset.value(), kInfinity);
    unset.add_terms({.squares = 1, .sum = 1});
    EXPECT_EQ(unset.value(), kInfinity);
}

TEST(Distance, OfTermsThatCancelIsRelativeToThem) {
    const work::TermSizes terms{.squares = 4, .sum = 2};
    Distance rounded, wrong;
    rounded.add(1e-6, 0);
    rounded.add_terms(terms);
    EXPECT_LT(rounded.value(), 1e-3);
    wrong.add(0.1, 0);  // a term that didn't cancel
    wrong.add_terms(terms);
    EXPECT_GT(wrong.value(), 1);
    // Where they don't cancel, they don't count.
    Distance plain;
    plain.add(1.1, 1);
    plain.add_terms(terms);
    EXPECT_NEAR(plain.value(), 0.1, 1e-12);
}

TEST(Distance, OfAWrongRowIsSeenInManyRightOnes) {
    Distance d;
    constexpr std::size_t kWrong = 4321;
    for (std::size_t row = 0; row < 5608; ++row) {
        for (int i = 0; i < 2; ++i) d.add(row == kWrong && i == 0 ? 0 : 1, 1);
        d.end_row();
    }
    EXPECT_LT(d.value(), 0.01);
    EXPECT_NEAR(d.worst_row().value, std::sqrt(0.5), 1e-12);
    EXPECT_EQ(d.worst_row().number, kWrong);
}

TEST(Distance, OfASmallRowIsRelativeToTheUsualOne) {
    Distance d;
    d.add(3, 3);
    d.end_row();
    d.add(0.1, 0);
    d.end_row();
    EXPECT_NEAR(d.worst_row().value, 0.1 / std::sqrt(4.5), 1e-12);
    // And of one whose terms cancel, to them.
    Distance cancelled;
    cancelled.add(1e-6, 0);
    cancelled.add_terms({.squares = 4, .sum = 2});
    cancelled.end_row();
    EXPECT_NEAR(cancelled.worst_row().value, 5e-5, 1e-12);
}

TEST(Distance, OfARowIsInfiniteWhereSomethingIsNotFinite) {
    Distance d;
    d.add(1, 1);
    d.end_row();
    d.add(std::numeric_limits<double>::quiet_NaN(), 1);
    d.end_row();
    EXPECT_EQ(d.worst_row().value, kInfinity);
    EXPECT_EQ(d.worst_row().number, 1U);
}

}  // namespace
}  // namespace assay::cuda
