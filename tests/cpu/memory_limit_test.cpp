#include "cpu/memory_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "fixture_root.h"

namespace assay::cpu {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(MemoryLimit, KeepsAReserveOutOfWhatIsAvailable) {
    FixtureRoot root;
    root.file("proc/meminfo",
              "MemTotal:    1048576 kB\nMemFree:  1 kB\nMemAvailable:  524288 kB\n");
    const auto state = memory_state(root.path());
    EXPECT_EQ(state.total, 1024 * kMiB);
    EXPECT_EQ(state.free, (512 - 32) * kMiB);
}

TEST(MemoryLimit, TheControlGroupMayBeTighterThanTheMachine) {
    FixtureRoot root;
    root.file("proc/meminfo", "MemTotal:  67108864 kB\nMemAvailable:  60000000 kB\n")
        .file("proc/self/cgroup", "0::/\n")
        .file("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        .file("sys/fs/cgroup/memory.max", std::to_string(64 * kMiB))
        .file("sys/fs/cgroup/memory.current", std::to_string(30 * kMiB));
    const auto state = memory_state(root.path());
    EXPECT_EQ(state.total, 64 * kMiB);
    EXPECT_EQ(state.free, 32 * kMiB);
}

TEST(MemoryLimit, RefusesNamingNeedAndFree) {
    EXPECT_NO_THROW(require_memory(kMiB, {.total = 4 * kMiB, .free = kMiB}));
    try {
        require_memory(3 * kMiB, {.total = 4 * kMiB, .free = kMiB});
        FAIL() << "no error";
    } catch (const Unsupported& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("3.00 MiB needed"));
        EXPECT_THAT(error.what(), testing::HasSubstr("1.00 MiB free"));
        EXPECT_FALSE(error.hint().empty());
    }
}

}  // namespace
}  // namespace assay::cpu
