#include "suite/pool.h"

#include <gtest/gtest.h>

namespace assay::suite {
namespace {

using record::Result;
using record::Status;

// What a case is before any launch of it.
Result asked() {
    Result result;
    result.probe = "memory";
    result.device = "cpu";
    result.what.set("op", "copy").set("size", "1000").set("nodes", "local", "local");
    return result;
}

// One launch of `count` calls of `seconds` each.
Result launched(double seconds, std::size_t count = 200) {
    auto result = asked();
    auto& launch = result.launches.emplace_back();
    launch.pid = 1;
    launch.samples["time"] = {"s", std::vector<double>(count, seconds)};
    result.checks.push_back({"answer", true, "1000 places"});
    result.conditions.stop_reason = "precise";
    result.conditions.settled = true;
    result.conditions.settings = {{"slice_bytes", "1000"}, {"passes", "8388"}};
    return result;
}

Result unlaunched(Status status, const std::string& reason) {
    auto result = asked();
    result.status = status;
    result.reason = reason;
    return result;
}

TEST(Pool, MetricsStandOnTheSamplesOfEveryLaunch) {
    auto result = asked();
    pool(result, launched(1e-6));
    pool(result, launched(8e-6, 100));
    pool(result, launched(1e-6, 300));
    ASSERT_EQ(result.launches.size(), 3u);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(result.launches[static_cast<std::size_t>(i)].index, i);
    ASSERT_NE(result.metric("bandwidth"), nullptr);
    EXPECT_EQ(result.metric("bandwidth")->n, 600u);
    // 1000 bytes read and 1000 written, 8388 times a call (8 MiB), in 2 us, the geometric mean of
    // the launches' medians.
    EXPECT_NEAR(result.metric("bandwidth")->value, 8388.0, 1e-8);
}

TEST(Pool, ClocksAreAveragedAndAnotherAlgorithmIsSaid) {
    auto result = asked();
    for (const double mhz : {2000.0, 2300.0, 2600.0}) {
        auto one = launched(1e-6);
        one.conditions.clock_mhz = mhz;
        one.conditions.algorithm = mhz < 2500 ? "one" : "another";
        pool(result, one);
    }
    EXPECT_NEAR(result.conditions.clock_mhz.value(), 2300, 1e-9);
    EXPECT_FALSE(result.conditions.power_w);
    EXPECT_EQ(result.conditions.settings.at("other launches ran"), " another");
}

TEST(Pool, ACheckHoldsWhenItHeldInEveryLaunch) {
    auto result = asked();
    pool(result, launched(1e-6));
    auto wrong = launched(1e-6);
    wrong.checks[0] = {"answer", false, "place 7 is 3"};
    wrong.checks.push_back({"answer after load", true, ""});
    pool(result, wrong);
    pool(result, launched(1e-6));
    ASSERT_EQ(result.checks.size(), 2u);
    EXPECT_FALSE(result.checks[0].passed);
    EXPECT_EQ(result.checks[0].detail, "place 7 is 3");
}

TEST(Pool, AFailedLaunchMakesTheWholeFailed) {
    for (const bool first : {true, false}) {
        auto result = asked();
        const auto crash = unlaunched(Status::failed, "died of SIGSEGV");
        if (first) pool(result, crash);
        pool(result, launched(1e-6));
        if (!first) pool(result, crash);
        EXPECT_EQ(result.status, Status::failed);
        EXPECT_EQ(result.reason, "died of SIGSEGV");
        EXPECT_TRUE(result.metrics.empty());
        EXPECT_EQ(result.launches.size(), 1u) << "what was measured is kept";
        EXPECT_EQ(result.conditions.stop_reason, "precise");
    }
}

TEST(Pool, ASkippedCaseStaysSkipped) {
    auto result = asked();
    for (int launch = 0; launch < 2; ++launch) {
        pool(result, unlaunched(Status::skipped, "no such type"));
    }
    EXPECT_EQ(result.status, Status::skipped);
    EXPECT_EQ(result.reason, "no such type");
    EXPECT_TRUE(result.launches.empty());
}

TEST(Pool, TheWorstLaunchStandsForAll) {
    auto result = asked();
    pool(result, launched(1e-6));
    auto hurried = launched(1e-6);
    hurried.conditions.stop_reason = "time limit";
    hurried.conditions.settled = false;
    hurried.conditions.throttle_reasons = {"power", "heat"};
    pool(result, hurried);
    auto good = launched(1e-6);
    good.conditions.throttle_reasons = {"heat"};
    pool(result, good);
    EXPECT_EQ(result.conditions.stop_reason, "time limit");
    EXPECT_EQ(result.conditions.settled, false);
    EXPECT_EQ(result.conditions.throttle_reasons, (std::vector<std::string>{"power", "heat"}));
}

}  // namespace
}  // namespace assay::suite
