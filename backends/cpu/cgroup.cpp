#include "cpu/cgroup.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cpu/sysfs.h"

namespace assay::cpu {
namespace {

namespace fs = std::filesystem;

struct Mount {
    std::string root;     // the group that is seen at the mount point
    std::string point;    // where
    std::string options;  // version 1: the controllers
    bool version2 = false;
};

// Fields of a line: id parent device root point options [optional...] - type source super-options.
std::vector<Mount> cgroup_mounts(const fs::path& root) {
    std::vector<Mount> mounts;
    for (const std::string& line :
         split(read_text(root / "proc/self/mountinfo").value_or(""), '\n')) {
        const auto separator = line.find(" - ");
        if (separator == std::string::npos) continue;
        const auto before = split(std::string_view(line).substr(0, separator), ' ');
        const auto after = split(std::string_view(line).substr(separator + 3), ' ');
        if (before.size() < 5 || after.size() < 3 || !after[0].starts_with("cgroup")) continue;
        mounts.push_back({before[3], before[4], after[2], after[0] == "cgroup2"});
    }
    return mounts;
}

bool has_word(std::string_view list, std::string_view word) {
    const auto words = split(list, ',');
    return std::find(words.begin(), words.end(), word) != words.end();
}

// The folder of this process's group and those of its ancestors, up to the mount point.
std::vector<fs::path> groups(const fs::path& root, const Mount& mount, std::string_view path) {
    std::string_view relative = path;
    if (mount.root != "/" && relative.starts_with(mount.root)) {
        relative.remove_prefix(mount.root.size());
    }
    while (relative.starts_with('/')) relative.remove_prefix(1);
    const fs::path top = root / fs::path(mount.point).relative_path();
    std::vector<fs::path> result;
    // A container may show only its own group: then the path names folders that aren't there.
    for (fs::path at = relative; !at.empty(); at = at.parent_path()) {
        if (fs::path folder = top / at; fs::exists(folder)) result.push_back(std::move(folder));
    }
    result.push_back(top);
    return result;
}

// Groups of one controller. Lines of proc/self/cgroup: id:controllers:path, controllers empty for
// version 2, where a process is in a single group for all of them.
std::vector<fs::path> groups_of(const fs::path& root, std::string_view controller, bool version2) {
    for (const std::string& line : split(read_text(root / "proc/self/cgroup").value_or(""), '\n')) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (version2 ? !controllers.empty() : !has_word(controllers, controller)) continue;
        for (const Mount& mount : cgroup_mounts(root)) {
            if (mount.version2 != version2) continue;
            if (!version2 && !has_word(mount.options, controller)) continue;
            return groups(root, mount, std::string_view(line).substr(second + 1));
        }
    }
    return {};
}

template <class T>
void tighten(std::optional<T>& limit, T value) {
    limit = limit ? std::min(*limit, value) : value;
}

void tighten_cpus(CgroupLimits& limits, std::optional<double> quota, std::optional<double> period) {
    if (quota && period && *quota > 0 && *period > 0) tighten(limits.cpus, *quota / *period);
}

void tighten_memory(CgroupLimits& limits, std::optional<double> limit, std::optional<double> usage,
                    const std::string& statistics, const std::string& reclaimable_key) {
    // Version 1 writes "no limit" as the largest multiple of a page.
    if (!limit || *limit >= 0x1p62) return;
    const auto bytes = static_cast<std::uint64_t>(*limit);
    tighten(limits.memory_bytes, bytes);
    double used = usage.value_or(0);
    if (const auto text = field_of(statistics, reclaimable_key + " ")) {
        used -= std::min(used, leading_number(*text).value_or(0));
    }
    tighten(limits.memory_free_bytes, bytes - std::min(bytes, static_cast<std::uint64_t>(used)));
}

}  // namespace

CgroupLimits read_cgroup_limits(const fs::path& root) {
    CgroupLimits limits;
    for (const fs::path& group : groups_of(root, "", true)) {
        if (const auto text = read_text(group / "cpu.max")) {
            const auto words = split(*text, ' ');
            if (words.size() == 2) {  // "max 100000" has no number first
                tighten_cpus(limits, leading_number(words[0]), leading_number(words[1]));
            }
        }
        tighten_memory(limits, read_number(group / "memory.max"),
                       read_number(group / "memory.current"),
                       read_text(group / "memory.stat").value_or(""), "inactive_file");
    }
    for (const fs::path& group : groups_of(root, "cpu", false)) {
        tighten_cpus(limits, read_number(group / "cpu.cfs_quota_us"),
                     read_number(group / "cpu.cfs_period_us"));
    }
    for (const fs::path& group : groups_of(root, "memory", false)) {
        tighten_memory(limits, read_number(group / "memory.limit_in_bytes"),
                       read_number(group / "memory.usage_in_bytes"),
                       read_text(group / "memory.stat").value_or(""), "total_inactive_file");
    }
    return limits;
}

}  // namespace assay::cpu
