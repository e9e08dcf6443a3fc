#include "judge/limit.h"

#include <gtest/gtest.h>

namespace assay::judge {
namespace {

record::Conditions limited_by(std::vector<std::string> reasons) {
    record::Conditions conditions;
    conditions.throttle_reasons = std::move(reasons);
    return conditions;
}

TEST(Limit, IsReadFromTheDevicesWords) {
    EXPECT_EQ(limit_of(limited_by({})), Limit::none);
    EXPECT_EQ(limit_of(limited_by({"SW power cap"})), Limit::power);
    EXPECT_EQ(limit_of(limited_by({"HW Power Brake"})), Limit::power);
    EXPECT_EQ(limit_of(limited_by({"HW thermal slowdown"})), Limit::thermal);
    EXPECT_EQ(limit_of(limited_by({"package temperature"})), Limit::thermal);
    EXPECT_EQ(limit_of(limited_by({"SW power cap", "SW thermal slowdown"})),
              Limit::power_and_thermal);
    EXPECT_EQ(limit_of(limited_by({"sync boost"})), Limit::other);
}

TEST(Limit, APowerAtTheCapCountsWhereTheDeviceNamesNothing) {
    auto conditions = limited_by({});
    conditions.power_w = 690;
    EXPECT_EQ(limit_of(conditions), Limit::none);
    conditions.settings["power_limit_w"] = "700";
    EXPECT_EQ(limit_of(conditions), Limit::power);
    conditions.power_w = 600;
    EXPECT_EQ(limit_of(conditions), Limit::none);
    conditions.settings["power_limit_w"] = "N/A";
    conditions.power_w = 690;
    EXPECT_EQ(limit_of(conditions), Limit::none);
    conditions.settings["power_limit_w"] = "700";
    conditions.throttle_reasons = {"sync boost"};
    EXPECT_EQ(limit_of(conditions), Limit::other);
}

TEST(Limit, HasAName) {
    EXPECT_EQ(name(Limit::power_and_thermal), "power and thermal");
    EXPECT_EQ(name(Limit::other), "other");
    EXPECT_EQ(name(Limit::none), "");
}

}  // namespace
}  // namespace assay::judge
