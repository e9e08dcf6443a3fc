#include <algorithm>

#include <gmock/gmock.h>

#include "catalog/devices.h"
#include "report/format.h"
#include "report/promises_json.h"

namespace assay::report {
namespace {

using testing::HasSubstr;

record::Run machine() {
    record::Run run;
    run.provenance.host = "node7";
    auto& facts = run.provenance.devices.emplace_back();
    facts.id = "cpu";
    facts.kind = "cpu";
    facts.name = "A processor";
    facts.compute_units = 2;
    facts.compute_units_total = 8;
    facts.memory_bytes = std::uint64_t{3} << 30;
    facts.caches = {{1, 49152, 2}, {3, 1 << 20, 1}};
    facts.max_clock_source = "unavailable: no cpufreq";
    facts.facts["memory_channels_source"] = "unreadable";
    run.provenance.software = {{"oneDNN", "2.6.3", "/lib/libdnnl.so.2", "stable"}};
    run.provenance.settings["OMP_NUM_THREADS"] = "2";
    return run;
}

// Without what aligns it.
std::string squeezed(std::string text) {
    const auto both_spaces = [](char a, char b) { return a == ' ' && b == ' '; };
    text.erase(std::unique(text.begin(), text.end(), both_spaces), text.end());
    return text;
}

TEST(Inventory, TellsWhatTheMachineIs) {
    const auto text = squeezed(inventory_text(machine()));
    EXPECT_THAT(text, HasSubstr("host node7\n"));
    EXPECT_THAT(text, HasSubstr("cpu: A processor\n"));
    EXPECT_THAT(text, HasSubstr("compute units 2 usable of 8\n"));
    EXPECT_THAT(text, HasSubstr("memory 3.00 GiB usable\n"));
    EXPECT_THAT(text, HasSubstr("caches L1 2 x 48.0 KiB, L3 1 x 1.00 MiB\n"));
    EXPECT_THAT(text, HasSubstr("oneDNN 2.6.3 stable /lib/libdnnl.so.2\n"));
    EXPECT_THAT(text, HasSubstr("OMP_NUM_THREADS = 2\n"));
}

TEST(Inventory, SaysWhyAFactIsUnknown) {
    const auto text = squeezed(inventory_text(machine()));
    EXPECT_THAT(text, HasSubstr("highest clock unavailable: no cpufreq\n"));
    EXPECT_THAT(text, HasSubstr("in the catalog no\n"));
}

TEST(Inventory, KeepsLongNamesAndValuesApart) {
    EXPECT_THAT(squeezed(inventory_text(machine())),
                HasSubstr(" memory_channels_source unreadable\n"));
}

TEST(Inventory, LeavesOutWhatIsEmpty) {
    EXPECT_THAT(squeezed(inventory_text(machine())), testing::Not(HasSubstr("container")));
}

std::string inventory_of(const record::DeviceFacts& facts) {
    record::Run run;
    run.provenance.devices = {facts};
    return squeezed(inventory_text(run));
}

TEST(Inventory, ShowsAnAcceleratorsRowAndBothPeaks) {
    const auto text = inventory_of(catalog::h200());
    EXPECT_THAT(text, HasSubstr("in the catalog NVIDIA H200 SXM\n found by name\n"));
    EXPECT_THAT(text, HasSubstr("bf16 datasheet 989 TFLOP/s at 1830 MHz (InferenceX-app"));
    EXPECT_THAT(text, HasSubstr("bf16 peak 1071 TFLOP/s, 540672 FLOP/cycle x 1980 MHz\n"));
    EXPECT_THAT(text, HasSubstr("bandwidth datasheet 4800 GB/s (InferenceX-app"));
    EXPECT_THAT(text, HasSubstr("bandwidth peak 4917 GB/s, 6144 bits x 2 x 3201 MHz / 8\n"));
    EXPECT_THAT(text, HasSubstr("power datasheet 700 W (InferenceX-app"));
    EXPECT_THAT(text, HasSubstr("link datasheet 450 GB/s one direction (InferenceX-app"));
    EXPECT_THAT(text, HasSubstr("link joins 8 devices, switched\n"));
    EXPECT_THAT(text, HasSubstr("fp8 e4m3fn\n"));
    EXPECT_THAT(text, HasSubstr("tf32 datasheet 494.5 TFLOP/s at 1830 MHz (NVIDIA H200 datasheet, "
                                "2024, secondary)\n"));
}

TEST(Inventory, TellsWhereSourcesDifferAndWhatNoneGives) {
    auto facts = catalog::h200();
    facts.name = "NVIDIA B300";
    EXPECT_THAT(inventory_of(facts),
                HasSubstr("fp4 datasheet sources differ: 13500 TFLOP/s (InferenceX-app "
                          "packages/app/src/lib/gpu-specs.ts, 2026-04), 14000 TFLOP/s "
                          "(ai-dynamo/aiconfigurator systems/*.yaml)\n"));
    facts.name = "NVIDIA GB300";
    EXPECT_THAT(inventory_of(facts), HasSubstr("power datasheet unknown: no source"));
}

TEST(Inventory, SaysOnceWhyAnAcceleratorIsUnknown) {
    auto facts = catalog::h200();
    facts.facts["mig"] = "enabled";
    const auto text = inventory_of(facts);
    EXPECT_THAT(text, HasSubstr("in the catalog no\n peaks unknown: MIG is enabled"));
    EXPECT_THAT(text, HasSubstr("memory bandwidth unknown: MIG is enabled"));
}

TEST(PromisesJson, HoldsRowPeaksAndContradictions) {
    record::Run run;
    auto b200 = catalog::h200();
    b200.id = "cuda:1";
    b200.name = "NVIDIA B200";
    run.provenance.devices = {catalog::h200(), b200, machine().provenance.devices[0]};
    const auto json = promises_json(run);
    ASSERT_EQ(json.size(), 3U);
    EXPECT_EQ(json[0]["model"], "NVIDIA H200 SXM");
    EXPECT_EQ(json[0]["datasheet"]["bf16"]["value"], 989e12);
    EXPECT_NEAR(json[0]["peak"]["bf16"]["value"].get<double>(), 1070.5e12, 0.1e12);
    EXPECT_NEAR(json[0]["bandwidth_peak"]["value"].get<double>(), 4916.7e9, 0.1e9);
    const auto& row = json[0]["accelerator"];
    EXPECT_EQ(row["peak_flop_per_s"]["fp64"][0]["mhz"], 1980);
    EXPECT_EQ(row["link_bytes_per_s"][0]["value"], 450e9);
    EXPECT_EQ(row["link_topology"], "switched");
    EXPECT_EQ(row["power_w"][0]["value"], 700);
    EXPECT_EQ(row["e4m3"], "fn");
    EXPECT_FALSE(row["power_w"][0].contains("secondary"));
    EXPECT_EQ(json[1]["accelerator"]["bandwidth_bytes_per_s"].size(), 2U);
    EXPECT_EQ(json[1]["accelerator"]["peak_flop_per_s"]["fp64"][0]["secondary"], true);
    EXPECT_THAT(json[1]["accelerator"]["contradictions"][0].get<std::string>(),
                HasSubstr("memory bandwidth: 8000 GB/s"));
    EXPECT_TRUE(json[2]["accelerator"].is_null());
    EXPECT_TRUE(json[2]["peak"]["fp32"]["value"].is_null());
}

}  // namespace
}  // namespace assay::report
