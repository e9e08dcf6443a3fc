#include "plan/cost_report.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/expect_error.h"
#include "plan/shipped_prices.h"

namespace assay::plan {
namespace {

using testing::Contains;
using testing::Not;

Deployment built(std::int64_t servers) {
    Deployment d;
    d.system_name = "h200";
    d.system = shipped_prices().system("h200");
    d.servers = servers;
    d.network = shipped_prices().network("ib-ndr");
    return d;
}

double value(const SystemCost& system, const std::string& name) {
    const auto found = std::ranges::find(system.figures, name, &CostFigure::name);
    EXPECT_NE(found, system.figures.end()) << name;
    return found == system.figures.end() ? 0 : found->value;
}

Work serving(double tokens_per_s, std::int64_t instance) {
    Work work;
    work.rates = token_rates(tokens_per_s, Counts::output, 0.5);
    work.instance = instance;
    return work;
}

const record::Finding* find(const std::vector<record::Finding>& findings, const char* rule) {
    const auto found = std::ranges::find(findings, rule, &record::Finding::rule);
    return found == findings.end() ? nullptr : &*found;
}

TEST(CostReport, SayTheOtherHourBasisByName) {
    const auto system = cost_of_owned(built(128), shipped_prices(), {});
    EXPECT_NEAR(value(system, "$/device-hour, owned, month of 30 days") /
                    value(system, "$/device-hour, owned"),
                730.0 / 720, 1e-12);
    auto prices = shipped_prices();
    catalog::set_input(prices, "hours_per_month", 720);
    const auto other = cost_of_owned(built(128), prices, {});
    EXPECT_EQ(std::ranges::count(other.figures, "$/device-hour, owned, month of 30 days",
                                 &CostFigure::name),
              0);
}

// A server that serves alone isn't stopped by the failures of others.
TEST(CostReport, TheJobIsTheInstanceWhereItOnlyServes) {
    const auto serves = cost_of_owned(built(128), shipped_prices(), serving(5000, 16));
    EXPECT_EQ(*serves.deployment->job_nodes, 2);
    Work trains = serving(5000, 16);
    trains.training_tokens = 1e12;
    trains.training_tokens_per_s = 1e6;
    EXPECT_FALSE(cost_of_owned(built(128), shipped_prices(), trains).deployment->job_nodes);
}

TEST(CostReport, JoulesComeFromTheMeter) {
    const auto system = cost_of_owned(built(128), shipped_prices(), serving(5000, 8));
    EXPECT_NEAR(value(system, "J/output token"),
                value(system, "at the meter per device") * 1000 * 8 / 5000, 1e-9);
}

// ClusterMAX: 4,096 x 720 x 2.00.
TEST(CostReport, RentedDevicesCostTheirHours) {
    auto prices = shipped_prices();
    const auto system = cost_of_rented("devices", std::nullopt, {4096, 2.00}, prices, {});
    EXPECT_DOUBLE_EQ(value(system, "total per month"), 4096 * 730 * 2.00);
    catalog::set_input(prices, "hours_per_month", 720);
    EXPECT_DOUBLE_EQ(
        value(cost_of_rented("devices", std::nullopt, {4096, 2.00}, prices, {}), "total per month"),
        5'898'240);
}

TEST(CostReport, ComparesUsefulHoursWithRentedOnes) {
    const auto owned = cost_of_owned(built(128), shipped_prices(), serving(5000, 8));
    const auto rented = cost_of_rented("rented h200", shipped_prices().system("h200"), {8, 2.5},
                                       shipped_prices(), serving(5000, 8));
    const auto figures = compare(owned, rented);
    EXPECT_EQ(figures[0].name, "$/device-hour, h200 over rented h200");
    EXPECT_NEAR(figures[0].value, owned.ownership->per_useful_hour() / 2.5, 1e-12);
    EXPECT_THAT(figures, Contains(testing::Field(
                             &CostFigure::name,
                             "performance per TCO, total tokens, h200 over rented h200")));
}

TEST(CostReport, TheSameJobHasAsManyDevices) {
    auto one = built(128);  // of 8 devices each
    auto racks = built(15);
    racks.system.devices = 72;
    racks.system.nodes = 18;
    EXPECT_EQ(same_job_nodes(one, racks), 256) << "all 1024 devices, 4 in each node of a rack";
    EXPECT_EQ(same_job_nodes(racks, one), 128) << "1080 devices are more than there are";
    one.job_nodes = 3;
    EXPECT_EQ(same_job_nodes(one, racks), 6);
    EXPECT_EQ(same_job_nodes(one, built(64)), 3);
    racks.job_nodes = 1;
    EXPECT_EQ(same_job_nodes(racks, one), 1) << "half a node holds it";
}

// A job keeps its nodes even where the nodes of a system don't share its devices evenly.
TEST(CostReport, TheSameJobOnTheSameSystemHasTheSameNodes) {
    auto one = built(4);
    one.system.devices = 9;
    one.system.nodes = 2;
    for (std::int64_t nodes = 1; nodes <= one.nodes(); ++nodes) {
        one.job_nodes = nodes;
        EXPECT_EQ(same_job_nodes(one, one), nodes);
    }
}

TEST(CostReport, WarnsOfOldPricesAndNotesAssumptions) {
    CostReport report;
    report.systems.push_back(cost_of_owned(built(128), shipped_prices(), {}));
    const auto findings = cost_findings(report, "2025-12-31");
    const auto* old = find(findings, "old-price");
    ASSERT_NE(old, nullptr);
    EXPECT_EQ(old->severity, record::Severity::warning);
    EXPECT_THAT(old->evidence, Contains("switch_64x400g_ib (2024-08)"));
    EXPECT_THAT(old->evidence, Contains("h200_server (undated)"));
    EXPECT_THAT(old->evidence, Not(Contains("electricity (2025)"))) << "a year counts to its end";
    EXPECT_THAT(cost_findings(report, "2027-01-01").front().evidence,
                Contains("electricity (2025)"));
    const auto* assumed = find(findings, "assumption");
    ASSERT_NE(assumed, nullptr);
    EXPECT_THAT(assumed->evidence, Contains("module_800g_nvidia"));
    EXPECT_THAT(old->evidence, Not(Contains(testing::HasSubstr("module_800g_nvidia"))));
}

TEST(CostReport, NumbersOfTheUsersOwnAreNeitherOldNorAssumed) {
    auto prices = shipped_prices();
    for (const auto& [name, input] : shipped_prices().inputs) {
        catalog::set_input(prices, name, input.value);
    }
    CostReport report;
    report.systems.push_back(cost_of_owned(built(128), prices, {}));
    EXPECT_TRUE(cost_findings(report, "2026-12-01").empty());
}

TEST(CostReport, WhatDiffersFromThePublishedIsAnError) {
    CostReport report;
    report.systems.push_back(cost_of_owned(built(1), shipped_prices(), {}));
    catalog::ScenarioFigure figure;
    figure.figure = "capital";
    figure.value = 1;
    figure.within = 0.5;
    report.published = beside_published({figure}, report.systems[0]);
    EXPECT_FALSE(report.published[0].holds);
    EXPECT_EQ(find(cost_findings(report, "2026-01-01"), "published")->severity,
              record::Severity::error);
    figure.value = report.published[0].here + 0.4;
    EXPECT_TRUE(beside_published({figure}, report.systems[0])[0].holds);
    figure.figure = "capitol";
    expect_error<UsageError>([&] { beside_published({figure}, report.systems[0]); },
                             "unknown figure \"capitol\"", "capital");
}

TEST(CostReport, ANetworksNotesAreTold) {
    auto d = built(64);
    d.network->tree.planes = 8;
    CostReport report;
    report.systems.push_back(cost_of_owned(d, shipped_prices(), {}));
    EXPECT_NE(find(cost_findings(report, "2026-01-01"), "network"), nullptr);
}

}  // namespace
}  // namespace assay::plan
