// What a device says of itself: the same for CPU, CUDA and HIP; what can't be read stays empty.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::record {

struct CacheFacts {
    int level = 0;
    std::uint64_t bytes = 0;  // of one instance
    int instances = 0;

    bool operator==(const CacheFacts&) const = default;
};

struct NodeFacts {
    int index = 0;
    std::uint64_t memory_bytes = 0;
    int cores = 0;

    bool operator==(const NodeFacts&) const = default;
};

struct DeviceFacts {
    std::string id;    // "cpu", "cuda:0"
    std::string kind;  // "cpu", "cuda", "hip"
    std::string name;  // as the vendor spells it
    std::string vendor;
    std::string unique_id;  // serial or UUID, "" when there is none
    // Usable by this process: cores after affinity and cgroup limits, or multiprocessors.
    int compute_units = 0;
    int compute_units_total = 0;
    std::uint64_t memory_bytes = 0;  // usable by this process
    std::vector<CacheFacts> caches;
    std::vector<NodeFacts> nodes;
    std::uint64_t last_level_cache_bytes = 0;  // all instances: what a cold run must exceed
    std::optional<double> max_clock_mhz;       // highest the device may run at
    std::string max_clock_source;              // where it was read, or why it could not be
    bool virtual_machine = false;
    std::vector<std::string> features;  // instruction sets, compute capability
    // Anything else by name: family, model, stepping, microcode, governor, memory_channels, ...
    std::map<std::string, std::string> facts;

    bool operator==(const DeviceFacts&) const = default;
};

// Anything but a CPU; a device that says no kind is taken for a CPU.
inline bool is_accelerator(const DeviceFacts& facts) {
    return !facts.kind.empty() && facts.kind != "cpu";
}

}  // namespace assay::record
