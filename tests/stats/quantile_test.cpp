#include "stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "stats/simulated.h"

namespace assay::stats {
namespace {

const std::vector<double> kFive{3.0, 1.0, 5.0, 2.0, 4.0};

TEST(Quantile, InterpolatesBetweenNeighboursOfUnsortedSamples) {
    EXPECT_EQ(quantile(kFive, 0.0), 1.0);
    EXPECT_EQ(quantile(kFive, 0.25), 2.0);
    EXPECT_DOUBLE_EQ(quantile(kFive, 0.9), 4.6);
    EXPECT_EQ(quantile(kFive, 1.0), 5.0);
}

TEST(Quantile, MedianOfAnEvenNumberIsTheMiddleOfTheMiddleTwo) {
    EXPECT_EQ(median(kFive), 3.0);
    EXPECT_EQ(median(std::vector{4.0, 1.0, 2.0, 3.0}), 2.5);
    EXPECT_EQ(median(std::vector{7.0}), 7.0);
}

TEST(Quantile, PositionsBeyondTheEndsGiveTheEnds) {
    const std::vector<double> ascending{1.0, 2.0, 4.0};
    EXPECT_EQ(at_position(ascending, -3.0), 1.0);
    EXPECT_EQ(at_position(ascending, 1.5), 3.0);
    EXPECT_EQ(at_position(ascending, 9.0), 4.0);
}

TEST(Quantile, GrowsWithPAndStaysWithinTheSamples) {
    const auto samples = normal_samples(1, 137);
    const auto [smallest, largest] = std::ranges::minmax(samples);
    double previous = smallest;
    for (int i = 0; i <= 1000; ++i) {
        const double q = quantile(samples, i / 1000.0);
        EXPECT_GE(q, previous);
        EXPECT_LE(q, largest);
        previous = q;
    }
}

TEST(Quantile, MomentsAndSpread) {
    EXPECT_EQ(mean(kFive), 3.0);
    EXPECT_DOUBLE_EQ(stdev(kFive), std::sqrt(2.5));
    EXPECT_EQ(iqr(kFive), 2.0);
    EXPECT_EQ(stdev(std::vector{7.0}), 0.0);
}

TEST(Quantile, RefusesNothingAndNotANumber) {
    EXPECT_THROW(median({}), Error);
    EXPECT_THROW(mean({}), Error);
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        EXPECT_THROW(median(std::vector{1.0, bad}), Error);
        EXPECT_THROW(mean(std::vector{1.0, bad}), Error);
        EXPECT_THROW(stdev(std::vector{1.0, bad}), Error);
        EXPECT_THROW(iqr(std::vector{1.0, bad}), Error);
    }
}

TEST(Quantile, AnErrorNamesTheSample) {
    try {
        sorted(std::vector{1.0, 2.0, std::nan("")});
        FAIL() << "a NaN was sorted";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "sample 2 is nan");
        EXPECT_FALSE(error.hint().empty());
    }
}

}  // namespace
}  // namespace assay::stats
