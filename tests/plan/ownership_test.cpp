#include "plan/ownership.h"

#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/expect_error.h"
#include "plan/shipped_prices.h"

namespace assay::plan {
namespace {

using testing::Contains;
using testing::Field;
using testing::Not;

Deployment built(const std::string& name, std::int64_t servers) {
    Deployment d;
    d.system_name = name;
    d.system = shipped_prices().system(name);
    d.servers = servers;
    d.network_name = d.system.network;
    d.network = shipped_prices().network(d.network_name);
    return d;
}

catalog::Prices with(const std::string& name, double value) {
    auto prices = shipped_prices();
    catalog::set_input(prices, name, value);
    return prices;
}

double sum_of(const Ownership& o, double CostLine::*field) {
    return std::accumulate(o.lines.begin(), o.lines.end(), 0.0,
                           [&](double sum, const CostLine& line) { return sum + line.*field; });
}

double amount(const Ownership& o, const std::string& component) {
    double sum = 0;
    for (const auto& line : o.lines) sum += line.component == component ? line.amount : 0;
    return sum;
}

TEST(Ownership, PartsAddUpToTheWhole) {
    for (const auto& [name, system] : shipped_prices().systems) {
        SCOPED_TRACE(name);
        const auto o = own(built(name, 64), shipped_prices());
        EXPECT_NEAR(sum_of(o, &CostLine::share), 1, 1e-12);
        EXPECT_NEAR(sum_of(o, &CostLine::monthly), o.monthly(), 1e-6 * o.monthly());
        EXPECT_NEAR(o.power.servers + o.power.network + o.power.other, o.power.it, 1e-9);
        EXPECT_GT(o.per_useful_hour(), o.per_device_hour());
    }
}

TEST(Ownership, TheNetworkIsBoughtAsItIsCounted) {
    const auto o = own(built("h100", 128), shipped_prices());
    EXPECT_DOUBLE_EQ(amount(o, "switches"), (32 + 16) * 40'000.0);
    EXPECT_DOUBLE_EQ(amount(o, "modules"), 1536 * 1300.0 + 1024 * 750.0);
    EXPECT_DOUBLE_EQ(amount(o, "cables"), 2048 * 60.0);
    const double back_end = amount(o, "switches") + amount(o, "modules") + amount(o, "cables");
    EXPECT_NEAR(back_end / (back_end + amount(o, "other_networks")), 0.85, 1e-12);
    EXPECT_NEAR(o.power.network, 48 * 0.747 + 1536 * 0.015 + 1024 * 0.008, 1e-9);
}

// What owners are said to pay, by others' models: InferenceX (neocloud, 4 years, April 2026).
// Bottom up from public prices it comes out alike.
TEST(Ownership, ComesNearOthersModels) {
    struct {
        const char* system;
        std::int64_t servers;
        double per_hour;
    } const rows[]{{"h100", 128, 1.69},      {"h200", 128, 1.74},   {"b200", 128, 2.34},
                   {"mi300x", 128, 1.40},    {"mi325x", 128, 1.59}, {"mi355x", 128, 1.90},
                   {"gb200-nvl72", 14, 2.75}};
    for (const auto& [system, servers, per_hour] : rows) {
        const auto o = own(built(system, servers), shipped_prices());
        EXPECT_NEAR(o.per_device_hour() / per_hour, 1, 0.15) << system;
    }
}

// SemiAnalysis: 318,000 $ a server of 8 H100 by NVIDIA's reference, without storage.
TEST(Ownership, ComesNearTheReferenceClusterOfH100) {
    const auto o = own(built("h100", 128), shipped_prices());
    EXPECT_NEAR((o.capital - amount(o, "storage")) / 128 / 318'000, 1, 0.03);
}

// SemiAnalysis: Ethernet saves about 40 % of the network of 16,000 devices.
TEST(Ownership, EthernetSavesOnTheNetwork) {
    const auto back_end = [](const char* network) {
        auto d = built("h100", 2048);
        d.network = shipped_prices().network(network);
        const auto o = own(d, shipped_prices());
        return amount(o, "switches") + amount(o, "modules") + amount(o, "cables");
    };
    EXPECT_NEAR(1 - back_end("ethernet-400g") / back_end("ib-ndr"), 0.40, 0.10);
}

// Twice the oversubscription halves spines and the links to them, and nothing else.
TEST(Ownership, OversubscriptionSavesSpinesAndModules) {
    auto thin = built("h100", 128);
    thin.network->tree.oversubscription = 2;
    const auto full = own(built("h100", 128), shipped_prices());
    const auto half = own(thin, shipped_prices());
    EXPECT_DOUBLE_EQ(amount(full, "switches") - amount(half, "switches"), 8 * 40'000.0);
    EXPECT_DOUBLE_EQ(amount(full, "modules") - amount(half, "modules"), 512 * 1300.0);
    EXPECT_DOUBLE_EQ(amount(full, "servers"), amount(half, "servers"));
}

TEST(Ownership, NicsArePaidForOnceOnly) {
    EXPECT_THAT(own(built("h100", 4), shipped_prices()).lines,
                Not(Contains(Field(&CostLine::component, "nics"))));
    auto bare = built("h100", 4);
    bare.system.nic = "nic_400g";
    auto prices = shipped_prices();
    expect_error<UsageError>([&] { own(bare, prices); },
                             "no price or rate \"nic_400g_kw\" in " + prices.file, "--prices");
    prices.inputs["nic_400g_kw"] = prices.input("module_400g_nvidia_kw");
    EXPECT_DOUBLE_EQ(amount(own(bare, prices), "nics"), 32 * 1600.0);
}

// Colocation is for the most power, electricity for the average with the site's own.
TEST(Ownership, PueIsForElectricityOnly) {
    const auto base = own(built("h200", 16), shipped_prices());
    const auto other = own(built("h200", 16), with("pue", 1.08));
    EXPECT_DOUBLE_EQ(amount(other, "colocation"), amount(base, "colocation"));
    EXPECT_NEAR(amount(other, "electricity") / amount(base, "electricity"), 1.08 / 1.35, 1e-12);
    EXPECT_NEAR(amount(base, "electricity"), base.power.it * 0.8 * 1.35 * 730 * 0.083, 1e-6);
    EXPECT_NEAR(amount(base, "colocation"), base.power.it * 150, 1e-6);
}

// What a share of the servers' power holds of switches and optics isn't counted twice.
TEST(Ownership, OtherPowerIsWhatTheNetworkLeaves) {
    const auto o = own(built("h100", 128), shipped_prices());
    EXPECT_NEAR(o.power.network + o.power.other, 0.10 * o.power.servers, 1e-9);
    const auto none = own(built("h100", 128), with("other_it_share", 0.01));
    EXPECT_EQ(none.power.other, 0);
    EXPECT_NEAR(none.power.it, none.power.servers + none.power.network, 1e-9);
}

TEST(Ownership, FailedDevicesCostAfterTheWarrantyOnly) {
    const auto o = own(built("h200", 128), shipped_prices());
    EXPECT_NEAR(amount(o, "spares"), 1024 * 0.061 / 12 * (4 - 3) / 4 * 258'000 / 8, 1e-6);
    const auto covered = own(built("h200", 128), with("life", 3));
    EXPECT_EQ(amount(covered, "spares"), 0);
}

TEST(Ownership, UsefulHoursAreWhatIsLeft) {
    const auto o = own(built("h200", 128), shipped_prices());
    EXPECT_NEAR(o.useful_share, 0.99 * 0.98 * 1 * (1 - o.reliability.loss.share), 1e-12);
    auto small = built("h200", 128);
    small.job_nodes = 1;
    EXPECT_GT(own(small, shipped_prices()).useful_share, o.useful_share);
    EXPECT_DOUBLE_EQ(own(small, shipped_prices()).per_device_hour(), o.per_device_hour());
}

TEST(Ownership, LifeMovesThePriceMoreThanElectricityDoes) {
    const auto bars =
        tornado(built("h200", 128), shipped_prices(), own(built("h200", 128), shipped_prices()));
    const auto effect = [&](const std::string& name) {
        return std::ranges::find(bars, name, &TornadoBar::input)->effect();
    };
    EXPECT_GT(effect("life"), 3 * effect("electricity"));
    EXPECT_TRUE(std::ranges::is_sorted(bars, std::greater<>{}, &TornadoBar::effect));
}

// Each bar's ends are what the same input gives when it is set.
TEST(Ownership, TornadoVariesEveryInputThatHasARange) {
    const auto d = built("b200", 32);
    const auto o = own(d, shipped_prices());
    const auto bars = tornado(d, shipped_prices(), o);
    std::size_t ranges = 0;
    for (const auto& name : o.used) ranges += shipped_prices().input(name).low ? 1U : 0U;
    EXPECT_EQ(bars.size(), ranges);
    for (const auto& bar : bars) {
        SCOPED_TRACE(bar.input);
        EXPECT_DOUBLE_EQ(own(d, with(bar.input, bar.high)).per_useful_hour(), bar.at_high);
        EXPECT_DOUBLE_EQ(own(d, with(bar.input, bar.low)).per_useful_hour(), bar.at_low);
    }
}

TEST(Ownership, WhatIsNotPaidForIsLeftOut) {
    auto d = built("h200", 8);
    const auto whole = own(d, shipped_prices());
    d.without = {"internet", "storage"};
    const auto less = own(d, shipped_prices());
    EXPECT_NEAR(whole.capital - less.capital, amount(whole, "storage"), 1e-6);
    EXPECT_NEAR(whole.running_monthly - less.running_monthly, 8 * 39, 1e-9);
    EXPECT_FALSE(less.used.contains("internet"));
}

TEST(Ownership, EveryComponentCanBeLeftOut) {
    auto d = built("h200", 8);
    for (const auto& component : cost_components()) d.without.insert(component);
    EXPECT_EQ(own(d, shipped_prices()).monthly(), 0);
}

TEST(Ownership, TheUsersOwnCostsAreAdded) {
    auto d = built("h200", 8);
    const auto whole = own(d, shipped_prices());
    d.extra_monthly = {{"engineers", 60'000}};
    d.extra_capital = {{"tools", 1000}};
    const auto more = own(d, shipped_prices());
    EXPECT_NEAR(more.running_monthly - whole.running_monthly, 60'000, 1e-6);
    EXPECT_NEAR(more.capital - whole.capital, 1000, 1e-6);
}

// No price is ever taken as nothing: each input that is needed is missed by name.
TEST(Ownership, EveryMissingInputIsNamed) {
    const auto d = built("h200", 128);
    for (const auto& name : own(d, shipped_prices()).used) {
        auto prices = shipped_prices();
        prices.inputs.erase(name);
        expect_error<UsageError>([&] { own(d, prices); },
                                 "no price or rate \"" + name + "\" in " + prices.file,
                                 "--set " + name + "=VALUE");
    }
}

TEST(Ownership, RefusesWhatCannotBe) {
    const auto& prices = shipped_prices();
    expect_error<UsageError>([&] { own(built("h200", 0), prices); }, "0 servers can't be bought",
                             "from 1");
    auto d = built("h200", 4);
    d.job_nodes = 5;
    expect_error<UsageError>([&] { own(d, prices); }, "a job of 5 nodes", "4 nodes");
    d = built("h200", 4);
    d.without = {"electricty"};
    expect_error<UsageError>([&] { own(d, prices); }, "unknown component \"electricty\"",
                             "electricity");
    EXPECT_THROW(own(built("h200", 4), with("used_share", 0)), UsageError);
    EXPECT_THROW(own(built("h200", 4), with("back_end_share", 0)), UsageError);
}

}  // namespace
}  // namespace assay::plan
