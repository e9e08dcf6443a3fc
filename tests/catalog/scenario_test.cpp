#include "catalog/scenario.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/expect_error.h"
#include "base/files.h"
#include "base/scratch.h"

namespace assay::catalog {
namespace {

std::filesystem::path folder() {
    return std::filesystem::path(ASSAY_SOURCE_DIR) / "data/scenarios";
}

TEST(Scenario, OptionsAreWordsOfTheCommandLine) {
    const auto scenario = load_scenario(find_scenario("h200-owned", folder()));
    EXPECT_EQ(scenario.options.at("system"), "h200");
    EXPECT_EQ(scenario.options.at("servers"), "1");
    EXPECT_EQ(scenario.options.at("without"), "spares");
    EXPECT_EQ(load_scenario(find_scenario("k3-mi355x", folder())).options.at("rate"), "2.5");
    EXPECT_TRUE(scenario.published.front().secondary);
}

TEST(Scenario, IsFoundByNameOrPath) {
    EXPECT_EQ(find_scenario("mine.toml", folder()), "mine.toml");
    expect_error<UsageError>([] { find_scenario("h200-owend", folder()); },
                             "unknown scenario \"h200-owend\"", "h200-owned");
}

TEST(Scenario, BrokenOnesNameThePlace) {
    const Scratch scratch;
    const auto path = scratch / "s.toml";
    const std::string head = "what = \"w\"\n[source.s]\ntext = \"t\"\n[options]\n";
    const auto expect = [&](const std::string& rest, const std::string& reason) {
        write_file(path, head + rest);
        expect_error<UsageError>([&] { load_scenario(path); }, path.string() + ":" + reason,
                                 "head");
    };
    expect("rate = true\n", "5:8: expected a word, a number or a list of words");
    expect("[[published]]\nfigure = \"f\"\nvalue = 1\nsource = \"s\"\n",
           "5:1: \"within\" is missing");
    expect("[[published]]\nfigure = \"f\"\nvalue = 1\nwithin = 1\nsource = \"x\"\n",
           "9:10: no [source.x]");
}

}  // namespace
}  // namespace assay::catalog
