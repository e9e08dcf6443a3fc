#include "plan/reliability.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay::plan {
namespace {

// Llama 3 405B on 16,384 GPUs: 419 unexpected interruptions in 54 days.
TEST(Reliability, MeanTimeOfLlama3) {
    EXPECT_NEAR(job_mtbf_hours(2048, 3.79), 3.09, 0.005);
    EXPECT_NEAR(54 * 24 / 419.0, job_mtbf_hours(2048, 3.79), 0.01);
}

// Meta's RSC-1, and the best H100 operators on 512 GPUs: about a week.
TEST(Reliability, MeanTimeOfOtherFleets) {
    EXPECT_NEAR(job_mtbf_hours(2048, 6.5), 1.8, 0.005);
    EXPECT_NEAR(job_mtbf_hours(16'384, 6.5), 0.23, 0.005);
    EXPECT_NEAR(job_mtbf_hours(64, 2.23) / 24, 7, 0.01);
}

// 100,000 links of 5 years each, 50,000 twin ones of 4: minutes.
TEST(Reliability, FirstFailureOfManyLinks) {
    constexpr double kMinutesPerYear = 365 * 24 * 60;
    EXPECT_NEAR(first_failure(5 * kMinutesPerYear, 100'000), 26.28, 0.005);
    EXPECT_NEAR(first_failure(4 * kMinutesPerYear, 50'000), 42.05, 0.005);
}

TEST(Reliability, StepsBetweenCheckpoints) {
    const double steps = steps_between_checkpoints({6000, 600, 10}, 15);
    EXPECT_NEAR(steps, 24.22, 0.005);
    EXPECT_EQ(std::floor(steps), 24);
}

// Each interval is where its loss is least.
TEST(Reliability, YoungMinimisesTheFirstOrderAndDalyTheExactTime) {
    const Failures failures{11'000, 900, 20};
    const double young = young_interval(failures), daly = daly_interval(failures);
    EXPECT_NEAR(young, std::sqrt(2 * 20 * 11'000.0), 1e-9);
    EXPECT_NEAR(availability_interval(failures), 20 + std::sqrt(2 * 11'900.0 * 20 + 400), 1e-9);
    for (const double off : {0.8, 0.9, 1.1, 1.2}) {
        EXPECT_LT(first_order_loss(failures, young), first_order_loss(failures, off * young));
        EXPECT_LT(daly_loss(failures, daly), daly_loss(failures, off * daly));
    }
}

// A write of 20 s, a restart of 15 min, Llama 3's rate.
TEST(Reliability, LossGrowsWithTheJob) {
    const auto loss = [](std::int64_t devices) {
        return expected_loss({3600 * job_mtbf_hours(devices / 8, 3.79), 900, 20});
    };
    EXPECT_NEAR(loss(1024).share, 0.020, 0.0005);
    EXPECT_NEAR(loss(8192).share, 0.083, 0.0005);
    EXPECT_NEAR(loss(16'384).share, 0.141, 0.0005);
    for (const std::int64_t devices : {1024, 8192, 16'384}) EXPECT_FALSE(loss(devices).exact);
}

// At 100,000 GPUs the first order says 64 %; it no longer holds, and the exact time takes over.
TEST(Reliability, TheExactTimeTakesOverWhereTheFirstOrderFails) {
    const Failures failures{3600 * job_mtbf_hours(12'500, 3.79), 900, 20};
    EXPECT_NEAR(first_order_loss(failures, young_interval(failures)), 0.64, 0.01);
    const auto loss = expected_loss(failures);
    EXPECT_TRUE(loss.exact);
    EXPECT_GT(loss.share, kFirstOrderLimit);
    EXPECT_LT(loss.share, first_order_loss(failures, young_interval(failures)));
    EXPECT_DOUBLE_EQ(loss.share, daly_loss(failures, loss.interval));
}

// Where failures are rare both say the same.
TEST(Reliability, BothLossesAgreeWhereFailuresAreRare) {
    const Failures failures{1e7, 600, 20};
    const double interval = young_interval(failures);
    EXPECT_NEAR(daly_loss(failures, interval), first_order_loss(failures, interval), 1e-5);
}

TEST(Reliability, NeverLosesMoreThanAll) {
    for (const double mtbf : {1.0, 30.0, 1000.0}) {
        const auto loss = expected_loss({mtbf, 3600, 120});
        EXPECT_GT(loss.share, 0);
        EXPECT_LE(loss.share, 1);
        EXPECT_GT(loss.interval, 0);
    }
}

// Over 90 % effective at 16,384 GPUs needs restarts of at most about 7.4 min.
TEST(Reliability, RestartThatLlama3sEffectiveTimeNeeds) {
    const double mtbf = 3600 * job_mtbf_hours(2048, 3.79);
    EXPECT_LT(expected_loss({mtbf, 7.3 * 60, 20}).share, 0.10);
    EXPECT_GT(expected_loss({mtbf, 7.6 * 60, 20}).share, 0.10);
}

}  // namespace
}  // namespace assay::plan
