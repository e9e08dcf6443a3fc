#include "catalog/processor.h"

#include <set>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/expect_error.h"
#include "base/files.h"
#include "base/scratch.h"

namespace assay::catalog {
namespace {

using testing::IsEmpty;
using testing::Not;

std::vector<Processor> shipped() {
    return load_processors(std::filesystem::path(ASSAY_SOURCE_DIR) / "data/processors.toml");
}

record::DeviceFacts x86(std::string vendor, std::string family, std::string model,
                        std::string name = "", const std::string& stepping = "") {
    record::DeviceFacts facts;
    facts.kind = "cpu";
    facts.vendor = std::move(vendor);
    facts.name = std::move(name);
    facts.facts = {{"family", family}, {"model", model}};
    if (!stepping.empty()) facts.facts["stepping"] = stepping;
    return facts;
}

std::string name_of(const record::DeviceFacts& facts) {
    static const auto kRows = shipped();
    const auto* row = find_processor(kRows, facts);
    return row == nullptr ? "" : row->name;
}

TEST(Processors, EveryShippedRowHasASourceCoresAndWholeMemory) {
    const auto rows = shipped();
    ASSERT_GT(rows.size(), 60U);
    for (const auto& row : rows) {
        EXPECT_THAT(row.source, Not(IsEmpty())) << row.name;
        EXPECT_THAT(row.models, Not(IsEmpty())) << row.name;
        EXPECT_THAT(row.core.source, Not(IsEmpty())) << row.name;
        EXPECT_TRUE(row.core.rates.contains("fp32")) << row.name;
        EXPECT_EQ(row.channels.has_value(), row.mts.has_value()) << row.name;
        if (row.channels) {
            EXPECT_GE(*row.channels, 2) << row.name;
            EXPECT_LE(*row.channels, 12) << row.name;
            EXPECT_GE(*row.mts, 1600) << row.name;
            EXPECT_LE(*row.mts, 8800) << row.name;
        }
    }
}

TEST(Processors, RatesAreWholeVectorsAndHalveWithTheWidthOfTheType) {
    for (const auto& row : shipped()) {
        for (const auto& [type, ways] : row.core.rates) {
            std::set<std::string> seen;
            for (const auto& rate : ways) {
                const auto flop = static_cast<unsigned>(rate.flop_per_cycle);
                EXPECT_EQ(flop & (flop - 1), 0U) << row.core.name << " " << type;
                EXPECT_GT(flop, 0U) << row.core.name << " " << type;
            }
        }
        const auto& fp64 = row.core.rates.at("fp64");
        const auto& fp32 = row.core.rates.at("fp32");
        ASSERT_EQ(fp64.size(), fp32.size()) << row.core.name;
        for (std::size_t i = 0; i < fp64.size(); ++i) {
            EXPECT_EQ(fp64[i].features, fp32[i].features) << row.core.name;
            EXPECT_EQ(2 * fp64[i].flop_per_cycle, fp32[i].flop_per_cycle) << row.core.name;
        }
    }
}

// A row that an earlier one always takes would be dead.
TEST(Processors, EveryShippedRowCanBeFound) {
    const auto rows = shipped();
    for (const auto& row : rows) {
        auto facts = x86(row.vendor, std::to_string(row.family), std::to_string(row.models.front()),
                         row.brands.empty() ? "" : row.brands.front(),
                         row.steppings.empty() ? "" : std::to_string(row.steppings.front()));
        if (row.vendor == "ARM") {
            facts.facts = {{"implementer", std::to_string(row.family)},
                           {"part", std::to_string(row.models.front())}};
        }
        EXPECT_EQ(find_processor(rows, facts), &row) << row.name;
    }
}

TEST(Processors, TellsModelsApartByStepping) {
    EXPECT_EQ(name_of(x86("GenuineIntel", "6", "85", "Intel(R) Xeon(R) Gold 6148 CPU", "4")),
              "Skylake-SP");
    EXPECT_EQ(name_of(x86("GenuineIntel", "6", "85", "Intel(R) Xeon(R) Gold 6248 CPU", "7")),
              "Cascade Lake-SP");
    EXPECT_EQ(name_of(x86("GenuineIntel", "6", "85", "Intel(R) Xeon(R) Platinum 8380H", "11")),
              "Cooper Lake");
    EXPECT_EQ(name_of(x86("GenuineIntel", "6", "85", "Intel(R) Xeon(R) Processor @ 2.30GHz")),
              "Skylake or Cascade Lake server");
}

TEST(Processors, TellsModelsApartByTheNameTheyGiveThemselves) {
    EXPECT_EQ(name_of(x86("GenuineIntel", "6", "85", "Intel(R) Xeon(R) Silver 4110 CPU", "4")),
              "Skylake-SP, one FMA unit");
    EXPECT_EQ(name_of(x86("GenuineIntel", "6", "143", "Intel(R) Xeon(R) w7-2495X")),
              "Sapphire Rapids workstation, four channels");
    EXPECT_EQ(name_of(x86("GenuineIntel", "6", "143", "Intel(R) Xeon(R) Platinum 8480+")),
              "Sapphire Rapids");
    EXPECT_EQ(name_of(x86("AuthenticAMD", "23", "49", "AMD EPYC 7742 64-Core Processor")),
              "EPYC 7002 (Rome)");
    EXPECT_EQ(name_of(x86("AuthenticAMD", "23", "49", "AMD Ryzen Threadripper PRO 3995WX")),
              "Threadripper PRO 3000");
    EXPECT_EQ(name_of(x86("AuthenticAMD", "23", "49", "AMD Ryzen Threadripper 3970X")),
              "Threadripper 3000");
    EXPECT_EQ(name_of(x86("AuthenticAMD", "25", "160", "AMD EPYC 8534P")), "EPYC 8004 (Siena)");
    EXPECT_EQ(name_of(x86("AuthenticAMD", "25", "160", "AMD EPYC 9754")), "EPYC 97x4 (Bergamo)");
}

TEST(Processors, FindsArmByImplementerAndPart) {
    auto facts = x86("ARM", "0", "0");
    facts.facts = {{"implementer", "0x41"}, {"part", "0xd40"}};
    EXPECT_EQ(name_of(facts), "Neoverse V1");
}

TEST(Processors, UnknownOnesAndMissingFactsFindNothing) {
    EXPECT_EQ(name_of(x86("GenuineIntel", "6", "250")), "");
    EXPECT_EQ(name_of(x86("AuthenticAMD", "6", "207")), "");
    EXPECT_EQ(name_of(x86("GenuineIntel", "six", "207")), "");
    EXPECT_EQ(name_of(record::DeviceFacts{}), "");
}

class Broken : public testing::Test {
  protected:
    void expect(const std::string& text, const std::string& reason) {
        const auto path = scratch_ / "processors.toml";
        write_file(path, text);
        expect_error<UsageError>([&] { load_processors(path); }, path.string() + ":" + reason,
                                 text.find("core") == 0 ? "TOML" : "head of the file");
    }

    static constexpr const char* kCore = "[core.a]\nfp32 = { \"avx2 fma\" = 32 }\nsource = \"s\"\n";
    Scratch scratch_;
};

TEST_F(Broken, NamesFileLineAndColumn) {
    const std::string core = kCore;
    expect("core = \n", "1:8: Error while parsing key-value pair: expected value, saw '\\n'");
    expect(core +
               "[[processor]]\nname = \"x\"\nvendor = \"v\"\nfamily = 6\nmodels = [1]\n"
               "core = \"b\"\nsource = \"s\"\n",
           "9:8: no [core.b]");
    expect(core + "[[processor]]\nname = \"x\"\nvendor = \"v\"\nfamily = \"6\"\n",
           "7:10: expected a whole number from 0 to 1,000,000");
    expect(core +
               "[[processor]]\nname = \"x\"\nvendor = \"v\"\nfamily = 6\nmodels = [1]\n"
               "core = \"a\"\n",
           "4:1: \"source\" is missing");
    expect(core + "[[processor]]\nnmae = \"x\"\n", "5:8: unknown key \"nmae\"");
    expect("[core.a]\nfp32 = 32\nsource = \"s\"\n",
           "2:8: expected { \"instruction sets\" = FLOP per cycle }");
    expect("[core.a]\nfp32 = { \"avx2\" = 1.5 }\nsource = \"s\"\n",
           "2:19: expected a whole number from 0 to 1,000,000");
}

}  // namespace
}  // namespace assay::catalog
