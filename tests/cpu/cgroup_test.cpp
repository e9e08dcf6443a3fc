#include "cpu/cgroup.h"

#include <gtest/gtest.h>

#include "fixture_root.h"

namespace assay::cpu {
namespace {

constexpr const char* kMountVersion2 =
    "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kMountVersion1 =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";

TEST(Cgroup, NoCgroupsMeanNoLimits) {
    const FixtureRoot root;
    const CgroupLimits limits = read_cgroup_limits(root.path());
    EXPECT_FALSE(limits.cpus);
    EXPECT_FALSE(limits.memory_bytes);
    EXPECT_FALSE(limits.memory_free_bytes);
}

TEST(Cgroup, Version2TakesTheTightestOfAllAncestors) {
    FixtureRoot root;
    root.file("proc/self/cgroup", "0::/slice/job\n")
        .file("proc/self/mountinfo", kMountVersion2)
        .file("sys/fs/cgroup/slice/cpu.max", "150000 100000\n")
        .file("sys/fs/cgroup/slice/memory.max", "1000000\n")
        .file("sys/fs/cgroup/slice/memory.current", "900000\n")
        .file("sys/fs/cgroup/slice/memory.stat", "anon 5\nfile 7\ninactive_file 100000\n")
        .file("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n")
        .file("sys/fs/cgroup/slice/job/memory.max", "max\n");
    const CgroupLimits limits = read_cgroup_limits(root.path());
    EXPECT_DOUBLE_EQ(limits.cpus.value(), 1.5);
    EXPECT_EQ(limits.memory_bytes, 1000000U);
    EXPECT_EQ(limits.memory_free_bytes, 200000U) << "file pages that can be dropped are free";
}

TEST(Cgroup, Version2InAContainerThatSeesOnlyItsOwnGroup) {
    FixtureRoot root;
    root.file("proc/self/cgroup", "0::/\n")
        .file("proc/self/mountinfo", kMountVersion2)
        .file("sys/fs/cgroup/cpu.max", "50000 100000\n")
        .file("sys/fs/cgroup/memory.max", "4096\n")
        .file("sys/fs/cgroup/memory.current", "8192\n");
    const CgroupLimits limits = read_cgroup_limits(root.path());
    EXPECT_DOUBLE_EQ(limits.cpus.value(), 0.5);
    EXPECT_EQ(limits.memory_free_bytes, 0U) << "never negative";
}

TEST(Cgroup, Version1QuotaAndMemory) {
    FixtureRoot root;
    root.file("proc/self/cgroup",
              "9:name=systemd:/\n5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n")
        .file("proc/self/mountinfo", kMountVersion1)
        .file("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "400000\n")
        .file("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n")
        .file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
        .file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
        .file("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "5000000\n")
        .file("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "3000000\n")
        .file("sys/fs/cgroup/memory/docker/abc/memory.stat",
              "cache 9\ntotal_inactive_file 1000000\n")
        .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    const CgroupLimits limits = read_cgroup_limits(root.path());
    EXPECT_DOUBLE_EQ(limits.cpus.value(), 4);
    EXPECT_EQ(limits.memory_bytes, 5000000U);
    EXPECT_EQ(limits.memory_free_bytes, 3000000U);
}

TEST(Cgroup, Version1BindMountOfTheGroupItself) {
    FixtureRoot root;
    root.file("proc/self/cgroup", "4:memory:/docker/abc\n")
        .file("proc/self/mountinfo",
              "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n")
        .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "123456\n");
    EXPECT_EQ(read_cgroup_limits(root.path()).memory_bytes, 123456U);
}

TEST(Cgroup, UnlimitedEverywhere) {
    FixtureRoot root;
    root.file("proc/self/cgroup", "4:memory:/\n1:cpu:/\n0::/\n")
        .file("proc/self/mountinfo", kMountVersion1)
        .file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
        .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    const CgroupLimits limits = read_cgroup_limits(root.path());
    EXPECT_FALSE(limits.cpus);
    EXPECT_FALSE(limits.memory_bytes);
}

}  // namespace
}  // namespace assay::cpu
