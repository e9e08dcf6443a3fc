// What the kernel and the processor tell of this processor's model, instructions and clock.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::cpu {

struct Processor {
    std::string name, vendor, family, model, stepping, microcode;  // "" where not told
    bool virtual_machine = false;
    // Instruction sets that speed products up, of those the kernel lists: it lists only what both
    // the processor and the system support.
    std::vector<std::string> features;
};
Processor read_processor(const std::filesystem::path& root = "/");

struct MaxClock {
    std::optional<double> mhz;
    std::string source;  // where it was read, or why it could not be
};
// The highest of the processors' cpufreq limits; without cpufreq `cpuid_mhz`, from cpuid leaf 16h
// (Intel SDM 2A, table 3-17); with neither, none: a name's "@ 2.10 GHz" is a base clock, not this.
MaxClock read_max_clock(const std::filesystem::path& root, std::optional<double> cpuid_mhz);
std::optional<double> cpuid_max_mhz();

// Settings that can change a number: governor, frequency_driver, turbo, transparent_hugepage. Those
// that can't be read are left out.
std::map<std::string, std::string> read_settings(const std::filesystem::path& root = "/");

}  // namespace assay::cpu
