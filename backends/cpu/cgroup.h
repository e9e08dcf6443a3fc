// What the control groups of this process allow it, version 1 and 2, every ancestor included.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace assay::cpu {

struct CgroupLimits {
    std::optional<double> cpus;  // quota over period: 1.5 is one and a half processors
    std::optional<std::uint64_t> memory_bytes;       // the tightest limit
    std::optional<std::uint64_t> memory_free_bytes;  // the least left under any limit
};

// Reads proc/self/cgroup and proc/self/mountinfo under `root`; memory that the kernel can drop
// (inactive file pages) counts as free. Limits that can't be read don't exist.
CgroupLimits read_cgroup_limits(const std::filesystem::path& root = "/");

}  // namespace assay::cpu
