// `assay cost` as its users run it.
#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "cli/assay.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

const Words kH200{"cost", "--system", "h200", "--servers", "128"};

class Cost : public Assay {
  protected:
    Json cost(const Words& arguments) const {
        const auto ended = run(arguments + Words{"--format", "json"});
        expect_fine(ended);
        return parse_json(ended.out, "standard output");
    }
    static double figure(const Json& document, const std::string& name, std::size_t system = 0) {
        for (const auto& f : document.at("cost").at("systems").at(system).at("figures")) {
            if (f.at("name") == name) return f.at("value").get<double>();
        }
        ADD_FAILURE() << "no figure " << name;
        return 0;
    }
};

// What others published follows from their own inputs.
TEST_F(Cost, EveryShippedScenarioGivesWhatWasPublished) {
    std::size_t scenarios = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/data/scenarios")) {
        SCOPED_TRACE(entry.path());
        const auto document = cost({"cost", "--scenario", entry.path().stem()});
        const auto& published = document.at("cost").at("published");
        EXPECT_FALSE(published.empty());
        for (const auto& figure : published) EXPECT_TRUE(figure.at("holds")) << figure.dump();
        ++scenarios;
    }
    EXPECT_GE(scenarios, 8u);
}

TEST_F(Cost, TheOwnedH200SheetToTheCent) {
    const auto document = cost({"cost", "--scenario", "h200-owned"});
    EXPECT_NEAR(figure(document, "capital per month"), 6738.18, 0.005);
    EXPECT_NEAR(figure(document, "running per month"), 2558.3, 0.1);
    EXPECT_NEAR(figure(document, "$/device-hour, owned"), 1.59, 0.005);
}

TEST_F(Cost, AChangedScenarioClaimsNothingPublished) {
    const auto document = cost({"cost", "--scenario", "h200-owned", "--set", "life=4"});
    EXPECT_TRUE(document.at("cost").at("published").empty());
    EXPECT_THAT(document.at("cost").at("scenario").get<std::string>(), HasSubstr("with changes"));
    EXPECT_GT(figure(document, "capital per month"), 6738.18);
}

TEST_F(Cost, AScenarioThatDoesNotHoldIsALimit) {
    const auto path = file("s.toml",
                           "what = \"w\"\n[source.s]\ntext = \"t\"\n[options]\nrate = 2\n"
                           "[[published]]\nfigure = \"$/device-hour, rented\"\nvalue = 3\n"
                           "within = 0.1\nsource = \"s\"\n");
    const auto ended = run({"cost", "--scenario", path});
    EXPECT_EQ(ended.status, kExitLimit);
    EXPECT_THAT(ended.out, HasSubstr("DIFFERS"));
}

TEST_F(Cost, CountsTheNetworkOfTheReferenceArchitecture) {
    const auto document =
        cost({"cost", "--system", "h100", "--servers", "127", "--network",
              "ib-ndr,management_ports=4,fill_cages=1,links_per_nic_module=2", "--bom"});
    EXPECT_EQ(figure(document, "leaf switches"), 32);
    EXPECT_EQ(figure(document, "spine switches"), 16);
    EXPECT_EQ(figure(document, "node-leaf cables") + figure(document, "management cables"), 1020);
    EXPECT_EQ(figure(document, "modules at switches"), 1536);
    EXPECT_EQ(figure(document, "modules at NICs"), 508);
}

TEST_F(Cost, TellsInputAndOutputTokensApart) {
    const auto document =
        cost({"cost", "--rate", "6", "--instance", "8", "--ttft", "378ms", "--tpot", "8.51ms",
              "--input-tokens", "8192", "--output-tokens", "1024"});
    EXPECT_NEAR(figure(document, "total tokens/s per device"), 126.8, 0.05);
    EXPECT_NEAR(figure(document, "output tokens/s per device"), 14.1, 0.05);
}

TEST_F(Cost, TablesJsonAndCsvGoWhereTheyAreAskedFor) {
    const auto table = run(kH200);
    expect_fine(table);
    for (const auto* word : {"capital per month", "what matters most", "old-price", "assumption"}) {
        EXPECT_THAT(table.out, HasSubstr(word));
    }
    const auto path = file("cost.csv");
    const auto csv = run(kH200 + Words{"--format", "csv", "--output", path});
    expect_fine(csv);
    EXPECT_EQ(csv.out, "");
    EXPECT_TRUE(read_file(path).starts_with("system,section,name,value,"));
    const auto document = cost(kH200);
    EXPECT_EQ(document.at("schema"), "assay/1");
    EXPECT_FALSE(document.contains("results"));
    EXPECT_FALSE(std::filesystem::exists(store_path())) << "nothing was measured";
}

TEST_F(Cost, ListsAndHelps) {
    EXPECT_THAT(run({"cost", "--list"}).out, HasSubstr("electricity"));
    EXPECT_EQ(cost({"cost", "--list"}).at("cost").at("prices").at("systems").size(), 9u);
    EXPECT_THAT(run({"cost", "--help"}).out, HasSubstr("Examples:"));
}

TEST_F(Cost, ACopiedPriceFileTakesThePlaceOfTheShippedOne) {
    auto text = read_file(ASSAY_SOURCE_DIR "/data/prices.toml");
    const std::string price = "value = 258000\n";
    const auto at = text.find(price);
    ASSERT_NE(at, text.npos);
    text.replace(at, price.size(), "value = 300000\n");
    const auto mine = file("mine.toml", text);
    EXPECT_GT(figure(cost(kH200 + Words{"--prices", mine}), "capital"),
              figure(cost(kH200), "capital") + 128 * 41'999.0);

    const std::string row = "[[input]]\nname = \"electricity\"";
    text.erase(text.find(row), text.find("[[input]]", text.find(row) + 1) - text.find(row));
    const auto ended = run(kH200 + Words{"--prices", file("mine.toml", text)});
    expect_complaint(ended, kExitUsage, "no price or rate \"electricity\"",
                     "--set electricity=VALUE");
}

TEST_F(Cost, WarnsByTheDateThatItIsGiven) {
    const auto warns = [&](const std::string& date) {
        const auto findings = cost(kH200 + Words{"--date", date}).at("findings");
        std::size_t old = 0;
        for (const auto& finding : findings) {
            if (finding.at("rule") == "old-price") old = finding.at("evidence").size();
        }
        return old;
    };
    EXPECT_LT(warns("2025-06-01"), warns("2026-12-01"));
}

TEST_F(Cost, ComparesTwoSystems) {
    const auto document = cost(kH200 + Words{"--tokens-per-s", "20000", "--compare", "mi355x",
                                             "--compare-tokens-per-s", "30000"});
    EXPECT_EQ(document.at("cost").at("systems").size(), 2u);
    const auto& figures = document.at("cost").at("comparison");
    EXPECT_TRUE(std::ranges::any_of(figures, [](const Json& f) {
        return f.at("name") == "performance per TCO, output tokens, h200 over mi355x";
    }));
}

// Each option that tells of the first system holds for the second too.
TEST_F(Cost, ASystemComparedWithItselfGivesOne) {
    const Words quoted{"--power", "quoted", "--set", "it_power_quoted_kw=20"};
    const Words trains{"--training-tokens", "1T", "--training-tokens-per-s", "1M",
                       "--instance",        "512"};
    struct {
        Words options;
        std::size_t figures;  // two of the price, one for each kind of tokens that both handle
    } const comparisons[]{
        {{}, 2},
        {{"--job-nodes", "1"}, 2},
        {{"--tokens-per-s", "1000"}, 2},
        {{"--tokens-per-s", "1000", "--compare-tokens-per-s", "1000"}, 3},
        {{"--tokens-per-s", "1000", "--instance", "16"}, 2},
        {{"--tokens-per-s", "1000", "--instance", "16", "--compare-tokens-per-s", "1000",
          "--compare-instance", "16"},
         3},
        {{"--compare-tokens-per-s", "1000"}, 2},
        {quoted, 2},
        {quoted + Words{"--tokens-per-s", "1000", "--job-nodes", "5"}, 2},
        {trains, 2},
        {trains + Words{"--compare-tokens-per-s", "1000"}, 2},
        {trains + Words{"--compare-training-tokens-per-s", "1M", "--compare-instance", "512"}, 3},
        {{"--storage", "quoted", "--set", "storage_quoted=9000"}, 2},
        {{"--without", "spares", "--capital", "parts=9e5", "--monthly", "staff=6e4"}, 2},
    };
    for (const auto& [options, figures] : comparisons) {
        SCOPED_TRACE(testing::PrintToString(options));
        const auto document = cost(kH200 + options + Words{"--compare", "h200"});
        const auto& comparison = document.at("cost").at("comparison");
        EXPECT_EQ(comparison.size(), figures);
        for (const auto& figure : comparison) {
            EXPECT_DOUBLE_EQ(figure.at("value").get<double>(), 1) << figure.dump();
        }
    }
}

TEST_F(Cost, ComparesTrainingOrSaysThatItDoesNot) {
    const auto note = [](const Json& document) {
        return std::ranges::count(document.at("findings"), "comparison",
                                  [](const Json& f) { return f.at("rule").get<std::string>(); });
    };
    const auto words = kH200 + Words{"--training-tokens", "1T",    "--training-tokens-per-s", "1M",
                                     "--compare",         "mi355x"};
    EXPECT_EQ(note(cost(words)), 1);
    EXPECT_THAT(run(words).out, HasSubstr("training isn't compared: how fast mi355x trains"));
    const auto faster = words + Words{"--compare-training-tokens-per-s", "2M"};
    const auto document = cost(faster);
    EXPECT_EQ(note(document), 0);
    EXPECT_GT(figure(document, "duration", 1), 0);
    const auto& comparison = document.at("cost").at("comparison");
    EXPECT_EQ(comparison.back().at("name"),
              "performance per TCO, training tokens, h200 over mi355x");
    EXPECT_NEAR(comparison.back().at("value").get<double>(),
                1 / (2 * comparison.front().at("value").get<double>()), 1e-12);
    const auto rented = cost(faster + Words{"--compare-rate", "2"});
    EXPECT_GT(figure(rented, "$/training run, rented", 1), 0);
}

TEST_F(Cost, AnUnknownInputIsAnsweredShortly) {
    const auto ended = run(kH200 + Words{"--set", "foo=5"});
    expect_complaint(ended, kExitUsage, "unknown input \"foo\"", "assay cost --list");
    EXPECT_THAT(ended.err, Not(HasSubstr("electricity")));
    expect_complaint(run(kH200 + Words{"--set", "eletricity=5"}), kExitUsage, "\"eletricity\"",
                     "did you mean \"electricity\"? assay cost --list");
}

TEST_F(Cost, TellsTwoOfOneNameApart) {
    const auto document =
        cost(kH200 + Words{"--compare", "h200", "--compare-network", "spectrum-400g"});
    const auto& systems = document.at("cost").at("systems");
    EXPECT_EQ(systems.at(0).at("name"), "h200");
    EXPECT_EQ(systems.at(1).at("name"), "h200 (second)");
    EXPECT_EQ(systems.at(1).at("network"), "spectrum-400g");
}

TEST_F(Cost, APriceThatTheFileLacksCanBeGiven) {
    const Words xdr{"cost", "--system", "b300", "--servers", "72", "--network", "ib-xdr"};
    expect_complaint(run(xdr), kExitUsage, "no price or rate \"switch_144x800g_ib\"", "--set");
    expect_complaint(run(xdr + Words{"--set", "switch_144x800g_ib=150000"}), kExitUsage,
                     "no price or rate \"switch_144x800g_ib_kw\"", "--set");
    const auto document =
        cost(xdr + Words{"--set", "switch_144x800g_ib=150000,switch_144x800g_ib_kw=1.5"});
    EXPECT_EQ(figure(document, "leaf switches"), 8);
    EXPECT_EQ(figure(document, "spine switches"), 4);
}

TEST_F(Cost, NamesWhatIsWrong) {
    struct {
        Words arguments;
        std::string what, hint;
    } const misuses[]{
        {{"cost"}, "no --system given", "--rate"},
        {{"cost", "--system", "h200"}, "no --servers given", "--servers 128"},
        {{"cost", "--system", "h20", "--servers", "1"}, "unknown system \"h20\"", "h200"},
        {{"cost", "--system", "h200", "--servers", "-4"}, "--servers -4 is out of range", "from 1"},
        {{"cost", "--system", "h200", "--servers", "many"}, "\"many\"", "decimal digits"},
        {kH200 + Words{"--network", "ib"}, "unknown network \"ib\"", "ib-ndr"},
        {kH200 + Words{"--network", "ib-ndr,radix"}, "\"radix\" is not NAME=VALUE", "name="},
        {kH200 + Words{"--network", "ib-ndr,radx=64"}, "unknown key of a network \"radx\"",
         "radix"},
        {kH200 + Words{"--network", "ib-xdr"}, "no price or rate \"switch_144x800g_ib\"", "--set"},
        {kH200 + Words{"--network", "ib-ndr,layers=1"}, "1024 links a plane don't fit 1 layer",
         "2 layers hold them"},
        {kH200 + Words{"--network", "quoted"}, "no price or rate \"network_quoted\"", "--set"},
        {kH200 + Words{"--set", "pue"}, "\"pue\" is not NAME=VALUE", "name="},
        {kH200 + Words{"--set", "electricity=0"}, "electricity 0", "--without"},
        {kH200 + Words{"--set", "pue=high"}, "pue \"high\" is not a number", "point"},
        {kH200 + Words{"--without", "chairs"}, "unknown component \"chairs\"", "servers"},
        {kH200 + Words{"--financing", "debt=0.7"}, "--financing has no debt-rate", "equity-rate"},
        {kH200 + Words{"--rate", "2"}, "--servers does nothing with --rate", "one of them"},
        {kH200 + Words{"--compare-rate", "2"}, "--compare-rate does nothing without --compare", ""},
        {kH200 + Words{"--compare-training-tokens-per-s", "2"},
         "--compare-training-tokens-per-s does nothing without --compare", ""},
        {kH200 + Words{"--compare", "b200", "--compare-training-tokens-per-s", "2"},
         "does nothing without --training-tokens", ""},
        {kH200 + Words{"--tokens-per-s", "0"}, "--tokens-per-s 0 is not above 0", ""},
        {kH200 + Words{"--tokens-per-s", "1e300"}, "--tokens-per-s 1e300 is over 1e18", ""},
        {kH200 + Words{"--tokens-per-s", "9", "--counts", "all"}, "unknown kind of tokens \"all\"",
         "total"},
        {kH200 + Words{"--ttft", "1s"}, "--ttft and --tpot need each other", "--input-tokens"},
        {kH200 + Words{"--training-tokens", "1T"}, "need each other", "a second"},
        {kH200 + Words{"--tokens-per-s", "9", "--instance", "2000"},
         "--instance 2000 of 1024 devices", "at most"},
        {kH200 + Words{"--date", "yesterday"}, "--date \"yesterday\" is no date", "2026-11-30"},
        {{"cost", "--scenario", "h100-owned"}, "unknown scenario \"h100-owned\"", "h200-owned"},
        {kH200 + Words{"--prices", "/no/such.toml"}, "/no/such.toml", ""},
    };
    for (const auto& misuse : misuses) {
        SCOPED_TRACE(testing::PrintToString(misuse.arguments));
        const auto ended = run(misuse.arguments);
        expect_complaint(ended, kExitUsage, misuse.what, misuse.hint);
        EXPECT_EQ(ended.out, "");
    }
}

TEST_F(Cost, FinancingGivesTheCostOfCapital) {
    const auto given = cost(kH200 + Words{"--set", "wacc=0.09477"});
    const auto computed =
        cost(kH200 + Words{"--financing", "debt=0.7,debt-rate=0.09,equity-rate=0.15,tax=0.21"});
    EXPECT_NEAR(figure(computed, "capital per month"), figure(given, "capital per month"), 1e-3);
}

}  // namespace
}  // namespace assay::cli
