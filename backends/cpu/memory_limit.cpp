#include "cpu/memory_limit.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "cpu/cgroup.h"
#include "cpu/sysfs.h"

namespace assay::cpu {
namespace {

// Lines of proc/meminfo: "MemTotal:       24731708 kB".
std::size_t meminfo_bytes(const std::string& meminfo, const std::string& key) {
    const auto text = field_of(meminfo, key);
    return static_cast<std::size_t>(text ? leading_number(*text).value_or(0) * 1024 : 0);
}

}  // namespace

device::MemoryState memory_state(const std::filesystem::path& root) {
    const std::string meminfo = read_text(root / "proc/meminfo").value_or("");
    const CgroupLimits limits = read_cgroup_limits(root);
    device::MemoryState state;
    state.total = std::min<std::size_t>(meminfo_bytes(meminfo, "MemTotal:"),
                                        limits.memory_bytes.value_or(SIZE_MAX));
    state.free = std::min<std::size_t>(meminfo_bytes(meminfo, "MemAvailable:"),
                                       limits.memory_free_bytes.value_or(SIZE_MAX));
    const std::size_t reserve = std::min<std::size_t>(state.total / 32, std::size_t{256} << 20);
    state.free -= std::min(state.free, reserve);
    return state;
}

void require_memory(std::size_t bytes, const device::MemoryState& state) {
    if (bytes <= state.free) return;
    throw Unsupported("not enough memory: " + format_bytes(static_cast<double>(bytes)) +
                          " needed, " + format_bytes(static_cast<double>(state.free)) + " free",
                      "choose a smaller size, or free memory (or raise the container's limit)");
}

}  // namespace assay::cpu
