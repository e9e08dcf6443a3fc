#include "catalog/accelerator.h"

#include <set>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/expect_error.h"
#include "base/files.h"
#include "base/scratch.h"
#include "catalog/devices.h"

namespace assay::catalog {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::Eq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<Accelerator>& shipped() {
    static const auto kRows =
        load_accelerators(std::filesystem::path(ASSAY_SOURCE_DIR) / "data/accelerators.toml");
    return kRows;
}

const Accelerator& row(const std::string& name) {
    for (const auto& accelerator : shipped()) {
        if (accelerator.name == name) return accelerator;
    }
    throw std::logic_error("no row " + name);
}

std::string name_of(const record::DeviceFacts& facts) {
    const auto found = find_accelerator(shipped(), facts);
    return found.row == nullptr ? "" : found.row->name;
}

// Every figure of a row, with what it is.
std::vector<std::pair<std::string, Figure>> all_figures(const Accelerator& accelerator) {
    std::vector<std::pair<std::string, Figure>> all;
    const auto add = [&](const std::string& what, const Figures& figures) {
        for (const auto& figure : figures) all.emplace_back(accelerator.name + " " + what, figure);
    };
    for (const auto& [type, figures] : accelerator.peak) add(type, figures);
    add("memory", accelerator.memory);
    add("bandwidth", accelerator.bandwidth);
    add("link", accelerator.link);
    add("power", accelerator.power);
    return all;
}

TEST(Accelerators, EveryShippedFigureHasASource) {
    ASSERT_GE(shipped().size(), 12U);
    for (const auto& accelerator : shipped()) {
        EXPECT_THAT(accelerator.names, Not(IsEmpty())) << accelerator.name;
        EXPECT_THAT(accelerator.unit.source, Not(IsEmpty())) << accelerator.name;
        for (const auto& [what, figure] : all_figures(accelerator)) {
            EXPECT_THAT(figure.source, Not(IsEmpty())) << what;
            EXPECT_THAT(figure.source, Not(HasSubstr("recalled"))) << what;
        }
        for (const auto* figures :
             {&accelerator.memory, &accelerator.bandwidth, &accelerator.link}) {
            EXPECT_THAT(*figures, Not(IsEmpty())) << accelerator.name;
        }
        EXPECT_TRUE(accelerator.peak.contains("bf16")) << accelerator.name;
    }
}

// Known from memory only, and so left out.
TEST(Accelerators, WhatNoSourceGivesIsNotShipped) {
    EXPECT_THAT(row("AMD Instinct MI325X").power, IsEmpty());
    EXPECT_THAT(row("NVIDIA GB300 NVL72").power, IsEmpty());
}

TEST(Accelerators, FiguresOfThirdPartiesAreMarked) {
    EXPECT_TRUE(row("AMD Instinct MI300X").power.at(0).secondary);
    EXPECT_TRUE(row("AMD Instinct MI355X").power.at(0).secondary);
    EXPECT_TRUE(row("NVIDIA H200 SXM").peak.at("tf32")[0].secondary);
    EXPECT_FALSE(row("NVIDIA H200 SXM").power.at(0).secondary);
}

// Two ways to the same number: a slip in either shows.
TEST(Accelerators, PeaksAreTheUnitsRateTimesUnitsAndClock) {
    int checked = 0;
    for (const auto& accelerator : shipped()) {
        for (const auto& [type, figures] : accelerator.peak) {
            const auto rate = accelerator.unit.flop_per_cycle.find(type);
            if (rate == accelerator.unit.flop_per_cycle.end() || !figures[0].mhz) continue;
            ASSERT_TRUE(accelerator.compute_units) << accelerator.name;
            const double derived =
                rate->second * *accelerator.compute_units * *figures[0].mhz * 1e6;
            EXPECT_NEAR(figures[0].value / derived, 1, 0.002) << accelerator.name << " " << type;
            ++checked;
        }
    }
    EXPECT_GT(checked, 40);
}

TEST(Accelerators, HalfTheWidthIsTwiceTheRate) {
    for (const auto& accelerator : shipped()) {
        const auto& peak = accelerator.peak;
        if (!peak.contains("fp8")) continue;
        EXPECT_NEAR(peak.at("fp8")[0].value / peak.at("bf16")[0].value, 2, 0.002)
            << accelerator.name;
    }
}

TEST(Accelerators, EveryShippedRowIsFoundByEachOfItsNames) {
    std::set<std::string> seen;
    for (const auto& accelerator : shipped()) {
        for (const auto& name : accelerator.names) {
            EXPECT_TRUE(seen.insert(name).second) << name << " twice";
            record::DeviceFacts facts;
            facts.kind = accelerator.kind;
            facts.name = name;
            EXPECT_EQ(name_of(facts), accelerator.name);
        }
    }
}

TEST(Accelerators, TellsSpellingsApart) {
    const auto name_for = [](const char* name) {
        auto facts = h200();
        facts.name = name;
        facts.facts.erase("compute_capability");
        return name_of(facts);
    };
    EXPECT_EQ(name_for("NVIDIA H200"), "NVIDIA H200 SXM");
    EXPECT_EQ(name_for("NVIDIA H200 NVL"), "");
    EXPECT_EQ(name_for("NVIDIA H100 80GB HBM3"), "NVIDIA H100 SXM");
    EXPECT_EQ(name_for("NVIDIA H100 PCIe"), "NVIDIA H100 PCIe");
    EXPECT_EQ(name_for("NVIDIA A100-SXM4-80GB"), "NVIDIA A100 SXM4 80GB");
    EXPECT_EQ(name_for("NVIDIA B200"), "NVIDIA B200 SXM");
}

TEST(Accelerators, ADeviceOfAnUnknownNameIsFoundByItsProperties) {
    auto facts = h200();
    facts.name = "NVIDIA Graphics Device";
    facts.memory_bytes = 85'520'000'000;
    const auto found = find_accelerator(shipped(), facts);
    ASSERT_NE(found.row, nullptr);
    EXPECT_EQ(found.row->name, "NVIDIA H100 SXM");
    EXPECT_THAT(found.how,
                HasSubstr("its name isn't known; by architecture 9.0, 132 compute units"));
    facts.compute_units = facts.compute_units_total = 114;
    EXPECT_EQ(name_of(facts), "NVIDIA H100 PCIe");
    facts.facts["compute_capability"] = "9.1";
    EXPECT_EQ(name_of(facts), "");
}

TEST(Accelerators, AnArchitectureMayBeAFeature) {
    record::DeviceFacts facts;
    facts.kind = "hip";
    facts.name = "AMD Radeon Graphics";
    facts.compute_units = facts.compute_units_total = 304;
    facts.memory_bytes = 206'141'652'992;
    facts.features = {"gfx942"};
    EXPECT_EQ(name_of(facts), "AMD Instinct MI300X");
    facts.memory_bytes = 274'877'906'944;
    EXPECT_EQ(name_of(facts), "AMD Instinct MI325X");
    facts.kind = "cuda";
    EXPECT_EQ(name_of(facts), "");
}

TEST(Accelerators, SaysWhyNoneWasFound) {
    auto facts = h200();
    facts.name = "NVIDIA Future";
    EXPECT_EQ(find_accelerator(shipped(), facts).how,
              "\"NVIDIA Future\" isn't in data/accelerators.toml");
}

TEST(Accelerators, PropertiesThatFitTwoRowsFindNone) {
    auto rows = shipped();
    auto twin = row("NVIDIA H100 SXM");
    twin.name = "Twin";
    twin.names = {"Twin"};
    rows.push_back(twin);
    auto facts = h200();
    facts.name = "NVIDIA Graphics Device";
    facts.memory_bytes = 85'520'000'000;
    const auto found = find_accelerator(rows, facts);
    EXPECT_EQ(found.row, nullptr);
    EXPECT_EQ(found.how, "\"NVIDIA Graphics Device\" may be NVIDIA H100 SXM or Twin");
}

TEST(Accelerators, ContradictionsNameEverySource) {
    const auto b200 = row("NVIDIA B200 SXM").contradictions();
    ASSERT_EQ(b200.size(), 1U);
    EXPECT_THAT(b200[0], AllOf(HasSubstr("memory bandwidth: 8000 GB/s (InferenceX-app"),
                               HasSubstr("7700 GB/s (ai-dynamo/aiconfigurator")));
    EXPECT_THAT(row("NVIDIA B300 SXM").contradictions(),
                ElementsAre(HasSubstr("fp4 peak: 13500 TFLOP/s"), HasSubstr("memory: 268 GB"),
                            HasSubstr("7750 GB/s")));
    EXPECT_THAT(row("AMD Instinct MI355X").contradictions(),
                ElementsAre(AllOf(HasSubstr("link: 576 GB/s"), HasSubstr("537.6 GB/s"))));
    EXPECT_THAT(row("NVIDIA H100 PCIe").contradictions(), IsEmpty());
    EXPECT_EQ(disagreement(row("NVIDIA B200 SXM").bandwidth, 1e12), "sources differ: 7.7 to 8");
    EXPECT_EQ(disagreement(row("NVIDIA H200 SXM").bandwidth, 1e12), "");
}

TEST(CatalogType, MapsFp8ByFlavour) {
    EXPECT_THAT(catalog_type("fp8_e4m3fn", "fn"), Eq("fp8"));
    EXPECT_THAT(catalog_type("fp8_e5m2", "fn"), Eq("fp8"));
    EXPECT_THAT(catalog_type("fp8_e4m3fnuz", "fnuz"), Eq("fp8"));
    EXPECT_EQ(catalog_type("fp8_e4m3fnuz", "fn"), std::nullopt);
    EXPECT_EQ(catalog_type("fp8_e4m3fn", "fnuz"), std::nullopt);
    EXPECT_EQ(catalog_type("fp8_e5m2", "fnuz"), std::nullopt);
    EXPECT_EQ(catalog_type("fp8_e4m3fn", ""), std::nullopt);
    EXPECT_THAT(catalog_type("bf16", ""), Eq("bf16"));
}

class BrokenAccelerators : public testing::Test {
  protected:
    void expect(const std::string& text, const std::string& reason) {
        const auto path = scratch_ / "accelerators.toml";
        write_file(path, text);
        expect_error<UsageError>([&] { load_accelerators(path); }, path.string() + ":" + reason,
                                 "head of the file");
    }
    static std::string head() {
        return "[source.s]\ntext = \"who\"\n[unit.u]\nbf16 = 1\nsource = \"s\"\n";
    }
    static std::string row() {
        return head() + "[[accelerator]]\nname = \"x\"\nkind = \"cuda\"\nnames = [\"X\"]\n";
    }
    Scratch scratch_;
};

TEST_F(BrokenAccelerators, NameFileLineAndColumn) {
    const std::string peak = "peak.bf16 = [{ value = 1, source = \"s\" }]\n";
    expect("unit = 3\n", "1:1: \"source\" is missing");
    expect("[source.s]\ntext = \"who\"\ndate = \"last week\"\n",
           "3:8: expected a date as \"2024\", \"2024-12\" or \"2024-12-22\"");
    expect("[source.s]\ntext = \"\"\n", "2:8: \"text\" is empty");
    expect("[source.s]\ntext = \"who\"\n[unit.u]\nbf16 = 0\nsource = \"s\"\n",
           "4:8: expected a number above 0");
    expect("[source.s]\ntext = \"who\"\n[unit.u]\nbf17 = 1\nsource = \"s\"\n",
           "4:8: unknown key \"bf17\"");
    expect("[source.s]\ntext = \"who\"\n[unit.u]\nbf16 = 1\nsource = \"t\"\n",
           "5:10: no [source.t]");
    expect("[source.s]\ntext = \"who\"\n[unit.u]\ne4m3 = \"ocp\"\nsource = \"s\"\n",
           "4:8: \"e4m3\" is \"ocp\", expected fn or fnuz");
    expect(row() + "unit = \"v\"\n", "10:8: no [unit.v]");
    expect(row() + "unit = \"u\"\n", "6:1: \"peak\" is missing");
    expect(row() + "unit = \"u\"\npeak.bf16 = [{ value = -1, source = \"s\" }]\n",
           "11:24: expected a number above 0");
    expect(row() + "unit = \"u\"\npeak.bf16 = [{ value = 1 }]\n", "11:14: \"source\" is missing");
    expect(row() + "unit = \"u\"\npeak.bf16 = [3]\n",
           "11:14: expected { value = NUMBER, source = NAME }");
    expect(row() + "unit = \"u\"\n" + peak + "memory_range = [2, 1]\n",
           "12:16: the least is above the most");
    expect(row() + "unit = \"u\"\n" + peak + "memory_range = [2]\n",
           "12:16: expected [LEAST, MOST] bytes");
    expect(row() + "unit = \"u\"\n" + peak + "topology = \"ring\"\n",
           "12:12: \"topology\" is \"ring\", expected switched or mesh or bridge");
    expect(row() + "unit = \"u\"\nwatts = 3\n" + peak, "11:9: unknown key \"watts\"");
    expect(head() + "[accelerator]\n", "6:1: \"accelerator\" has another type");
}

}  // namespace
}  // namespace assay::catalog
