#include "catalog/prices.h"

#include <set>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/expect_error.h"
#include "base/files.h"
#include "base/scratch.h"
#include "catalog/accelerator.h"

namespace assay::catalog {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Prices& shipped() {
    static const auto kPrices =
        load_prices(std::filesystem::path(ASSAY_SOURCE_DIR) / "data/prices.toml");
    return kPrices;
}

TEST(Prices, EveryShippedInputHasUnitSourceAndWords) {
    ASSERT_GT(shipped().inputs.size(), 50U);
    for (const auto& [name, input] : shipped().inputs) {
        EXPECT_THAT(input.source, Not(IsEmpty())) << name;
        EXPECT_THAT(input.source, Not(HasSubstr("recalled"))) << name;
        EXPECT_THAT(input.what, Not(IsEmpty())) << name;
        EXPECT_EQ(input.assumption,
                  input.source == "no source found" || name == "device_failure_rate")
            << name;
    }
}

TEST(Prices, ShippedSystemsAreOfKnownDevices) {
    std::set<std::string> devices;
    for (const auto& row :
         load_accelerators(std::filesystem::path(ASSAY_SOURCE_DIR) / "data/accelerators.toml")) {
        devices.insert(row.name);
    }
    for (const auto& [name, system] : shipped().systems) {
        EXPECT_TRUE(devices.contains(system.device)) << name;
        EXPECT_NO_THROW(shipped().input(system.price)) << name;
        EXPECT_NO_THROW(shipped().input(system.power)) << name;
    }
}

// One switch has no public price: it is asked for, not guessed.
TEST(Prices, ShippedNetworksHavePartsWithPricesButOne) {
    for (const auto& [name, network] : shipped().networks) {
        for (const auto& part : {network.switch_module, network.nic_module}) {
            EXPECT_NO_THROW(shipped().input(part)) << name;
            EXPECT_NO_THROW(shipped().input(part + "_kw")) << name;
        }
        EXPECT_NO_THROW(shipped().input(network.copper_cable)) << name;
        EXPECT_NO_THROW(shipped().input(network.fibre_cable)) << name;
        if (name != "ib-xdr") {
            EXPECT_NO_THROW(shipped().input(network.switch_part)) << name;
        }
    }
    expect_error<UsageError>([] { shipped().input("switch_144x800g_ib"); },
                             "no price or rate \"switch_144x800g_ib\" in " + shipped().file,
                             "--set switch_144x800g_ib=VALUE");
}

TEST(Prices, NamesWhatIsNotThere) {
    expect_error<UsageError>([] { shipped().system("h20"); }, "unknown system \"h20\"", "h200");
    expect_error<UsageError>([] { shipped().network("ib-ndx"); }, "unknown network \"ib-ndx\"",
                             "ib-ndr");
}

TEST(Prices, AUsersNumberTakesThePlaceOfTheFiles) {
    auto prices = shipped();
    set_input(prices, "pue", 1.05);
    const auto& pue = prices.input("pue");
    EXPECT_EQ(pue.value, 1.05);
    EXPECT_EQ(pue.low, 1.05) << "the range holds the value";
    EXPECT_EQ(pue.high, 1.54);
    EXPECT_TRUE(pue.given);
    set_input(prices, "module_800g_nvidia", 900);
    EXPECT_FALSE(prices.input("module_800g_nvidia").assumption);
    set_input(prices, "switch_144x800g_ib", 150'000);
    EXPECT_EQ(prices.input("switch_144x800g_ib").unit, "$");
    expect_error<UsageError>([&] { set_input(prices, "eletricity", 1); },
                             "unknown input \"eletricity\"", "electricity");
}

TEST(Prices, NothingIsPricedAtNothing) {
    auto prices = shipped();
    expect_error<UsageError>([&] { set_input(prices, "h200_server", 0); },
                             "h200_server 0: expected a number above 0", "--without");
    expect_error<UsageError>([&] { set_input(prices, "colocation", -5); },
                             "colocation -5: expected a number above 0", "--without");
    expect_error<UsageError>([&] { set_input(prices, "pue", 0.9); },
                             "pue 0.9: a ratio is 1 or more", "ratio");
    expect_error<UsageError>([&] { set_input(prices, "load", 80); },
                             "load 80: a share goes from 0 to 1", "share");
    expect_error<UsageError>([&] { set_input(prices, "life", 0.001); },
                             "life 0.001: years go from 0.1 to 100", "years");
    expect_error<UsageError>([&] { set_input(prices, "hours_per_month", 8760); },
                             "hours_per_month 8760: a month has at most 744 hours", "hours");
    EXPECT_NO_THROW(set_input(prices, "residual", 0));
}

TEST(Prices, AnotherUnitIsRefused) {
    auto prices = shipped();
    auto input = prices.input("pue");
    input.unit = "$";
    expect_error<UsageError>([&] { replace_input(prices, input); },
                             "the unit of pue is ratio, not $", "ratio");
}

TEST(Prices, AreOldAfterTwelveMonths) {
    EXPECT_FALSE(over_a_year_old("2025-12-01", "2026-12-01"));
    EXPECT_TRUE(over_a_year_old("2025-11-30", "2026-12-01"));
    EXPECT_FALSE(over_a_year_old("2025-12", "2026-12-31"));
    EXPECT_TRUE(over_a_year_old("2025-11", "2026-12-01"));
    EXPECT_FALSE(over_a_year_old("2025", "2026-12-31"));
    EXPECT_TRUE(over_a_year_old("2025", "2027-01-01"));
    EXPECT_TRUE(over_a_year_old("", "2026-12-01"));
    EXPECT_FALSE(over_a_year_old("2026-12", "2026-01-01"));
}

class BrokenPrices : public testing::Test {
  protected:
    void expect(const std::string& text, const std::string& reason) {
        const auto path = scratch_ / "prices.toml";
        write_file(path, "[source.s]\ntext = \"who\"\n" + text);
        expect_error<UsageError>([&] { load_prices(path); }, path.string() + ":" + reason,
                                 "head of the file");
    }
    Scratch scratch_;
};

TEST_F(BrokenPrices, NamesFileLineAndColumn) {
    const std::string row = "[[input]]\nname = \"pue\"\nunit = \"ratio\"\nsource = \"s\"\n";
    expect(row, "3:1: \"value\" is missing");
    expect(row + "value = \"1.2\"\n", "7:9: expected a number");
    expect(row + "value = 0.5\n", "7:9: a ratio is 1 or more");
    expect(row + "value = 1.5\nlow = 1.2\n", "3:1: \"high\" is missing");
    expect(row + "value = 1.5\nlow = 1.6\nhigh = 1.7\n", "8:7: the low is above the value");
    expect(row + "value = 1.5\nlow = 1.2\nhigh = 1.3\n", "9:8: the high is below the value");
    expect(row + "value = 1.5\nas_of = \"May 2025\"\n",
           "8:9: expected a date as \"2024\", \"2024-12\" or \"2024-12-22\"");
    expect(row + "value = 1.5\n" + row + "value = 1.5\n", "9:8: a second \"pue\"");
    expect("[[input]]\nname = \"pue\"\nunit = \"$\"\nvalue = 3\nsource = \"s\"\n",
           "5:8: the unit of pue is ratio");
    expect("[[input]]\nname = \"x\"\nunit = \"$\"\nvalue = 0\nsource = \"s\"\n",
           "6:9: expected a number above 0");
    expect("[[input]]\nname = \"x\"\nunit = \"$\"\nvalue = inf\nsource = \"s\"\n",
           "6:9: expected a number");
    expect(row +
               "value = 1.5\n[system.a]\nwhat = \"w\"\nprice = \"p\"\npower = \"q\"\n"
               "network = \"n\"\n",
           "12:11: no [network.n]");
    expect(row + "value = 1.5\n[system.a]\nwhat = \"w\"\ndevices = 0\n",
           "10:11: expected 1 or more");
    expect(row + "value = 1.5\n[network.a]\nwhat = \"w\"\nlayers = 4\n",
           "10:10: layers goes from 0 to 3");
    expect(row + "value = 1.5\n[network.a]\nwhat = \"w\"\ncolour = 4\n",
           "10:10: unknown key \"colour\"");
}

TEST(FatTree, RefusesUnknownKeysAndAbsurdNumbers) {
    FatTree tree;
    set(tree, "radix", 144);
    set(tree, "copper", 1);
    EXPECT_EQ(tree.radix, 144);
    EXPECT_TRUE(tree.copper);
    expect_error<UsageError>([&] { set(tree, "radx", 64); }, "unknown key of a network \"radx\"",
                             "radix");
    expect_error<UsageError>([&] { set(tree, "layers", 4); },
                             "layers 4 of a network is out of range", "from 0 to 3");
    expect_error<UsageError>([&] { set(tree, "radix", -64); },
                             "radix -64 of a network is out of range", "from 2 to 4096");
}

}  // namespace
}  // namespace assay::catalog
