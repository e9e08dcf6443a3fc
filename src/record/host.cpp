#include "record/host.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "base/text.h"
#include "base/units.h"

namespace assay::record {

namespace fs = std::filesystem;

namespace {

// "" when there is no such file: sysfs differs from kernel to kernel.
std::string content_of(const fs::path& path) {
    std::ifstream file(path);
    std::ostringstream content;
    content << file.rdbuf();
    return std::string(trim(content.str()));
}

std::string line_value(const std::string& content, std::string_view key) {
    for (const std::string& line : split(content, '\n')) {
        if (!line.starts_with(key)) continue;
        std::string_view value = trim(std::string_view(line).substr(key.size()));
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
            value = value.substr(1, value.size() - 2);
        }
        return std::string(value);
    }
    return "";
}

// "always [madvise] never" -> "madvise"
std::string chosen(const std::string& content) {
    const auto open = content.find('[');
    const auto close = content.find(']', open);
    if (open == std::string::npos || close == std::string::npos) return content;
    return content.substr(open + 1, close - open - 1);
}

// One file of every frequency policy, each distinct value once: "performance, powersave".
std::string over_policies(const fs::path& cpu, const std::string& file) {
    std::set<std::string> values;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(cpu / "cpufreq", ignored)) {
        if (!entry.path().filename().string().starts_with("policy")) continue;
        values.insert(content_of(entry.path() / file));
    }
    values.erase("");
    return join(std::vector<std::string>(values.begin(), values.end()), ", ");
}

// The kernel's parameters that change speed; the others may name disks and hosts.
std::string boot_parameters(const std::string& command_line) {
    constexpr std::array<std::string_view, 14> kNames = {"amd_pstate",
                                                         "cpufreq.default_governor",
                                                         "default_hugepagesz",
                                                         "hugepages",
                                                         "hugepagesz",
                                                         "idle",
                                                         "intel_idle.max_cstate",
                                                         "intel_iommu",
                                                         "intel_pstate",
                                                         "iommu",
                                                         "isolcpus",
                                                         "mitigations",
                                                         "nohz_full",
                                                         "processor.max_cstate"};
    std::vector<std::string> kept;
    for (const std::string& word : split(command_line, ' ')) {
        const std::string_view parameter = std::string_view(word).substr(0, word.find('='));
        if (std::find(kNames.begin(), kNames.end(), parameter) != kNames.end()) {
            kept.push_back(word);
        }
    }
    return join(kept, " ");
}

bool matters(std::string_view variable) {
    constexpr std::array<std::string_view, 16> kPrefixes = {
        "ASSAY_", "OMP_",   "KMP_",   "GOMP_", "MKL_", "DNNL_", "ONEDNN_", "OPENBLAS_",
        "CUDA_",  "CUBLAS", "CUDNN_", "NCCL_", "HIP_", "HSA_",  "ROCR_",   "MALLOC_"};
    constexpr std::array<std::string_view, 5> kNames = {"GLIBC_TUNABLES", "LD_LIBRARY_PATH",
                                                        "LD_PRELOAD", "GOTO_NUM_THREADS",
                                                        "NVIDIA_TF32_OVERRIDE"};
    return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                       [&](std::string_view prefix) { return variable.starts_with(prefix); }) ||
           std::find(kNames.begin(), kNames.end(), variable) != kNames.end();
}

std::string without_secret(std::string_view variable, std::string value) {
    constexpr std::array<std::string_view, 4> kSecret = {"KEY", "PASSWORD", "SECRET", "TOKEN"};
    const bool secret = std::any_of(kSecret.begin(), kSecret.end(), [&](std::string_view word) {
        return variable.find(word) != std::string_view::npos;
    });
    if (secret) return "(left out)";
    const auto scheme = value.find("://");
    if (scheme == std::string::npos) return value;
    const auto host_end = value.find('/', scheme + 3);
    const auto at = value.rfind('@', host_end);
    if (at == std::string::npos || at < scheme) return value;
    return value.replace(scheme + 3, at - (scheme + 3), "(left out)");
}

}  // namespace

Settings process_environment() {
    Settings environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view variable = *entry;
        const auto equals = variable.find('=');
        if (equals == std::string_view::npos) continue;
        environment.emplace(variable.substr(0, equals), variable.substr(equals + 1));
    }
    return environment;
}

std::string system_name(const fs::path& root) {
    // /etc/os-release may be absent: os-release(5) names the second place.
    std::string release = content_of(root / "etc/os-release");
    if (release.empty()) release = content_of(root / "usr/lib/os-release");
    std::vector<std::string> words = {line_value(release, "PRETTY_NAME="),
                                      content_of(root / "proc/sys/kernel/osrelease")};
    if (!words[1].empty()) words[1] = "Linux " + words[1];
    std::erase(words, "");
    return join(words, ", ");
}

std::string container_kind(const fs::path& root, const Settings& environment) {
    // Kubernetes first: its pods are also what docker or podman call containers.
    const std::string groups = content_of(root / "proc/self/cgroup");
    const auto in_group = [&](std::string_view word) {
        return groups.find(word) != std::string::npos;
    };
    std::error_code ignored;
    const auto exists = [&](const char* path) { return fs::exists(root / path, ignored); };
    if (environment.contains("KUBERNETES_SERVICE_HOST") || in_group("kubepods") ||
        exists("var/run/secrets/kubernetes.io")) {
        return "kubernetes";
    }
    if (environment.contains("APPTAINER_CONTAINER") ||
        environment.contains("SINGULARITY_CONTAINER")) {
        return "apptainer";
    }
    // What a container's manager says of itself: systemd's container interface.
    std::string manager = content_of(root / "run/systemd/container");
    if (const auto found = environment.find("container");
        manager.empty() && found != environment.end()) {
        manager = found->second;
    }
    if (manager == "podman" || exists("run/.containerenv") || in_group("libpod")) return "podman";
    if (manager == "docker" || exists(".dockerenv") || in_group("/docker")) return "docker";
    if (manager == "lxc" || in_group("/lxc")) return "lxc";
    return manager.empty() ? "none" : manager;
}

Settings environment_settings(const Settings& environment) {
    Settings settings;
    for (const auto& [variable, value] : environment) {
        if (matters(variable)) settings.emplace(variable, without_secret(variable, value));
    }
    return settings;
}

Settings kernel_settings(const fs::path& root) {
    const fs::path cpu = root / "sys/devices/system/cpu";
    const fs::path pages = root / "sys/kernel/mm/transparent_hugepage";
    const fs::path kernel = root / "proc/sys/kernel";
    Settings settings = {
        {"boot_parameters", boot_parameters(content_of(root / "proc/cmdline"))},
        {"clock_source", content_of(root / "sys/devices/system/clocksource/clocksource0/"
                                           "current_clocksource")},
        {"energy_preference", over_policies(cpu, "energy_performance_preference")},
        {"frequency_boost", content_of(cpu / "cpufreq/boost")},
        {"frequency_driver", over_policies(cpu, "scaling_driver")},
        {"frequency_governor", over_policies(cpu, "scaling_governor")},
        {"huge_pages", content_of(root / "proc/sys/vm/nr_hugepages")},
        {"intel_no_turbo", content_of(cpu / "intel_pstate/no_turbo")},
        {"numa_balancing", content_of(kernel / "numa_balancing")},
        {"overcommit_memory", content_of(root / "proc/sys/vm/overcommit_memory")},
        {"perf_event_paranoid", content_of(kernel / "perf_event_paranoid")},
        {"smt_control", content_of(cpu / "smt/control")},
        {"transparent_hugepage", chosen(content_of(pages / "enabled"))},
        {"transparent_hugepage_defrag", chosen(content_of(pages / "defrag"))},
        {"zone_reclaim_mode", content_of(root / "proc/sys/vm/zone_reclaim_mode")},
    };
    std::erase_if(settings, [](const auto& setting) { return setting.second.empty(); });
    return settings;
}

std::vector<int> memory_nodes(const fs::path& root) {
    const fs::path node = root / "sys/devices/system/node";
    std::string list = content_of(node / "has_memory");
    if (list.empty()) list = content_of(node / "online");
    std::vector<int> nodes;
    if (list.empty()) return nodes;
    for (const std::string& item : split(list, ',')) {  // "0-1" or "3"
        const auto dash = item.find('-');
        const auto first = parse_integer(item.substr(0, dash), "NUMA node");
        const auto last = dash == item.npos ? first : parse_integer(item.substr(dash + 1), "node");
        for (auto index = first; index <= last; ++index) nodes.push_back(static_cast<int>(index));
    }
    return nodes;
}

}  // namespace assay::record
