#include <algorithm>

#include <gmock/gmock.h>

#include "report/format.h"

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

}  // namespace
}  // namespace assay::report
