// Memory modules as the firmware describes them: SMBIOS structures of type 17 (DMTF DSP0134 3.7,
// section 7.18).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cpu {

struct MemoryModule {
    std::string locator, bank;    // the firmware's names of slot and bank
    std::uint64_t bytes = 0;      // 0: the slot is empty
    std::uint32_t speed_mts = 0;  // million transfers a second as configured, 0 when not told
};

// `table` is the raw structure table. A damaged table gives the modules before the damage.
std::vector<MemoryModule> parse_memory_modules(std::string_view table);

// The channel a populated slot is on, socket included ("P0 CHANNEL A", "CPU0_DIMM_A"), or empty
// where the firmware's names don't tell it.
std::optional<std::string> channel_of(const MemoryModule& module);

// memory_modules, memory_slots, memory_speed_mts and memory_channels (those with a module), each
// where it is known; memory_channels_source says where from, or why not.
std::map<std::string, std::string> read_memory_facts(const std::filesystem::path& root = "/");

}  // namespace assay::cpu
