#include "cpu/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture_root.h"

namespace assay::cpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kCpuinfo =
    "processor\t: 0\n"
    "vendor_id\t: GenuineIntel\n"
    "cpu family\t: 6\n"
    "model\t\t: 143\n"
    "model name\t: Intel(R) Xeon(R) Platinum 8480+\n"
    "stepping\t: 8\n"
    "microcode\t: 0x2b000461\n"
    "flags\t\t: fpu sse4_2 avx hypervisor avx2 fma avx512f avx512bw avx512vl avx512_bf16 "
    "avx512_vnni amx_tile amx_int8\n"
    "\n"
    "processor\t: 1\n"
    "model name\t: another\n";

TEST(Processor, ReadsModelAndInstructionSets) {
    FixtureRoot root;
    root.file("proc/cpuinfo", kCpuinfo);
    const Processor processor = read_processor(root.path());
    EXPECT_EQ(processor.name, "Intel(R) Xeon(R) Platinum 8480+");
    EXPECT_EQ(processor.vendor, "GenuineIntel");
    EXPECT_EQ(processor.family, "6");
    EXPECT_EQ(processor.model, "143");
    EXPECT_EQ(processor.stepping, "8");
    EXPECT_EQ(processor.microcode, "0x2b000461");
    EXPECT_TRUE(processor.virtual_machine);
    EXPECT_THAT(processor.features,
                ElementsAre("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512bw", "avx512vl",
                            "avx512_vnni", "avx512_bf16", "amx_tile", "amx_int8"));
}

TEST(Processor, NothingKnownStaysEmpty) {
    const FixtureRoot root;
    const Processor processor = read_processor(root.path());
    EXPECT_EQ(processor.name, "");
    EXPECT_FALSE(processor.virtual_machine);
    EXPECT_THAT(processor.features, IsEmpty());
}

TEST(MaxClock, PrefersTheHighestCpufreqLimit) {
    FixtureRoot root;
    root.file("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3800000\n")
        .file("sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "4100000\n")
        .file("sys/devices/system/cpu/cpuidle/current_driver", "none\n");
    const MaxClock clock = read_max_clock(root.path(), 3000);
    EXPECT_DOUBLE_EQ(clock.mhz.value(), 4100);
    EXPECT_THAT(clock.source, HasSubstr("cpuinfo_max_freq"));
}

TEST(MaxClock, FallsBackToCpuidAndThenToAReason) {
    const FixtureRoot root;
    EXPECT_DOUBLE_EQ(read_max_clock(root.path(), 3000).mhz.value(), 3000);
    const MaxClock none = read_max_clock(root.path(), std::nullopt);
    EXPECT_FALSE(none.mhz);
    EXPECT_THAT(none.source, HasSubstr("unavailable: "));
}

TEST(Settings, ReadsWhatIsThere) {
    FixtureRoot root;
    root.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n")
        .file("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n")
        .file("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n")
        .file("sys/devices/system/cpu/cpu2/cpufreq/scaling_driver", "intel_pstate\n")
        .file("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n")
        .file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    EXPECT_THAT(read_settings(root.path()),
                UnorderedElementsAre(Pair("governor", "performance,powersave"),
                                     Pair("frequency_driver", "intel_pstate"), Pair("turbo", "off"),
                                     Pair("transparent_hugepage", "madvise")));
}

TEST(Settings, BoostIsTheOtherWordForTurbo) {
    FixtureRoot root;
    root.file("sys/devices/system/cpu/cpufreq/boost", "1\n");
    EXPECT_THAT(read_settings(root.path()), UnorderedElementsAre(Pair("turbo", "on")));
}

}  // namespace
}  // namespace assay::cpu
