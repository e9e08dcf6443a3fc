#include "cpu/processor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cpu/sysfs.h"

namespace assay::cpu {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFeatures{"sse4_2",   "avx",      "avx2",        "fma",         "avx512f",
                               "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx_vnni",
                               "amx_tile", "amx_bf16", "amx_int8",    "avx512_fp16"};

bool has_word(const std::vector<std::string>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

// The value of "[always] madvise never".
std::string chosen(const std::string& text) {
    const auto open = text.find('[');
    const auto close = text.find(']', open);
    return close == std::string::npos ? text : text.substr(open + 1, close - open - 1);
}

std::vector<fs::path> cpufreq_folders(const fs::path& root) {
    std::vector<fs::path> folders;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root / "sys/devices/system/cpu", none)) {
        const std::string name = entry.path().filename();
        if (name.starts_with("cpu") && name.size() > 3 && std::isdigit(name[3]) != 0 &&
            fs::exists(entry.path() / "cpufreq", none)) {
            folders.push_back(entry.path() / "cpufreq");
        }
    }
    return folders;
}

}  // namespace

Processor read_processor(const fs::path& root) {
    // Only the first processor's paragraph is read: a machine of unlike processors isn't told
    // apart.
    const std::string text = read_text(root / "proc/cpuinfo").value_or("");
    const auto field = [&](const std::string& key) { return field_of(text, key).value_or(""); };
    Processor processor;
    processor.name = field("model name");
    processor.vendor = field("vendor_id");
    processor.family = field("cpu family");
    processor.model = field("model\t");  // not "model name"
    processor.stepping = field("stepping");
    processor.microcode = field("microcode");
    const auto flags = split(field("flags"), ' ');
    processor.virtual_machine = has_word(flags, "hypervisor");
    for (std::string_view feature : kFeatures) {
        if (has_word(flags, feature)) processor.features.emplace_back(feature);
    }
    return processor;
}

MaxClock read_max_clock(const fs::path& root, std::optional<double> cpuid_mhz) {
    double highest_khz = 0;
    for (const fs::path& folder : cpufreq_folders(root)) {
        highest_khz = std::max(highest_khz, read_number(folder / "cpuinfo_max_freq").value_or(0));
    }
    if (highest_khz > 0) return {highest_khz / 1000, "cpufreq cpuinfo_max_freq"};
    if (cpuid_mhz) return {cpuid_mhz, "cpuid leaf 16h"};
    return {std::nullopt,
            "unavailable: the system has no cpufreq and cpuid leaf 16h tells no maximum"};
}

std::optional<double> cpuid_max_mhz() {
#if defined(__x86_64__)
    unsigned base = 0, maximum = 0, bus = 0, unused = 0;
    if (__get_cpuid(0x16, &base, &maximum, &bus, &unused) != 0 && maximum != 0) return maximum;
#endif
    return std::nullopt;
}

std::map<std::string, std::string> read_settings(const fs::path& root) {
    std::map<std::string, std::string> settings;
    const auto set = [&](const std::string& name, const std::optional<std::string>& value) {
        if (value && !value->empty()) settings[name] = *value;
    };
    const fs::path cpu = root / "sys/devices/system/cpu";
    // Governors may differ by processor: each one that is there, once.
    std::vector<std::string> governors;
    for (const fs::path& folder : cpufreq_folders(root)) {
        const std::string governor = read_text(folder / "scaling_governor").value_or("");
        if (!governor.empty() && !has_word(governors, governor)) governors.push_back(governor);
        set("frequency_driver", read_text(folder / "scaling_driver"));
    }
    std::ranges::sort(governors);
    set("governor", join(governors, ","));
    if (const auto off = read_number(cpu / "intel_pstate/no_turbo")) {
        settings["turbo"] = *off != 0 ? "off" : "on";
    } else if (const auto on = read_number(cpu / "cpufreq/boost")) {
        settings["turbo"] = *on != 0 ? "on" : "off";
    }
    if (const auto text = read_text(root / "sys/kernel/mm/transparent_hugepage/enabled")) {
        settings["transparent_hugepage"] = chosen(*text);
    }
    return settings;
}

}  // namespace assay::cpu
