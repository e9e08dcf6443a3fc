#include "cpu/smbios.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <regex>
#include <set>
#include <system_error>

#include "cpu/sysfs.h"

namespace assay::cpu {
namespace {

constexpr const char* kTable = "sys/firmware/dmi/tables/DMI";
constexpr std::uint8_t kMemoryDevice = 17;

// One structure: a formatted area, then its strings, each ended by a zero, and one more zero.
struct Structure {
    std::string_view area;
    std::vector<std::string_view> strings;

    std::uint32_t integer(std::size_t offset, std::size_t bytes) const {
        std::uint32_t value = 0;
        if (offset + bytes > area.size()) return 0;  // of an older version than the field
        for (std::size_t i = bytes; i-- > 0;) {
            value = value << 8 | static_cast<std::uint8_t>(area[offset + i]);
        }
        return value;
    }
    std::string string(std::size_t offset) const {
        const std::size_t number = integer(offset, 1);
        return number == 0 || number > strings.size() ? "" : std::string(strings[number - 1]);
    }
};

std::vector<Structure> parse_structures(std::string_view table) {
    std::vector<Structure> structures;
    while (table.size() >= 4) {
        const auto length = static_cast<std::uint8_t>(table[1]);
        if (length < 4 || length > table.size()) break;
        Structure structure{table.substr(0, length), {}};
        table.remove_prefix(length);
        if (table.size() >= 2 && table[0] == 0) table.remove_prefix(1);  // no strings at all
        while (!table.empty() && table[0] != 0) {
            const auto end = table.find('\0');
            if (end == std::string_view::npos) return structures;
            structure.strings.push_back(table.substr(0, end));
            table.remove_prefix(end + 1);
        }
        if (table.empty()) return structures;
        table.remove_prefix(1);
        structures.push_back(std::move(structure));
    }
    return structures;
}

std::uint64_t size_in_bytes(const Structure& structure) {
    const std::uint32_t size = structure.integer(0x0C, 2);
    if (size == 0xFFFF) return 0;  // unknown
    if (size == 0x7FFF) return std::uint64_t{structure.integer(0x1C, 4) & 0x7FFFFFFF} << 20;
    const bool kilobytes = (size & 0x8000) != 0;
    return std::uint64_t{size & 0x7FFF} << (kilobytes ? 10 : 20);
}

std::uint32_t configured_speed(const Structure& structure) {
    const std::uint32_t speed = structure.integer(0x20, 2);
    return speed == 0xFFFF ? structure.integer(0x58, 4) : speed;
}

}  // namespace

std::vector<MemoryModule> parse_memory_modules(std::string_view table) {
    std::vector<MemoryModule> modules;
    for (const Structure& structure : parse_structures(table)) {
        if (structure.integer(0, 1) != kMemoryDevice) continue;
        modules.push_back({structure.string(0x10), structure.string(0x11), size_in_bytes(structure),
                           configured_speed(structure)});
    }
    return modules;
}

std::optional<std::string> channel_of(const MemoryModule& module) {
    // "P0 CHANNEL A", "P0_Node0_Channel3_Dimm1", "CPU1_DIMM_A2", "P1-DIMMB1"
    static const std::regex kChannel("(.*channel[ _-]?[a-z0-9]).*", std::regex::icase);
    static const std::regex kSlot("(.*dimm[ _-]?[a-z])[0-9]+", std::regex::icase);
    std::smatch match;
    for (const std::string& name : {module.bank, module.locator}) {
        if (std::regex_match(name, match, kChannel)) return match[1];
    }
    if (std::regex_match(module.locator, match, kSlot)) return match[1];
    return std::nullopt;
}

std::map<std::string, std::string> read_memory_facts(const std::filesystem::path& root) {
    std::map<std::string, std::string> facts;
    std::string& source = facts["memory_channels_source"];
    errno = 0;
    const auto table = read_text(root / kTable);
    if (!table) {
        source = std::string("unavailable: can't read the firmware's table (/") + kTable +
                 "): " + std::strerror(errno);
        return facts;
    }
    const auto slots = parse_memory_modules(*table);
    std::vector<MemoryModule> modules;
    std::ranges::copy_if(slots, std::back_inserter(modules),
                         [](const MemoryModule& module) { return module.bytes > 0; });
    if (modules.empty()) {
        source = "unavailable: the firmware's table names no memory module";
        return facts;
    }
    facts["memory_slots"] = std::to_string(slots.size());
    facts["memory_modules"] = std::to_string(modules.size());
    // Modules of different speeds all run at the slowest.
    const auto slowest = std::ranges::min(modules, {}, &MemoryModule::speed_mts).speed_mts;
    if (slowest > 0) facts["memory_speed_mts"] = std::to_string(slowest);
    std::set<std::string> channels;
    for (const MemoryModule& module : modules) {
        const auto channel = channel_of(module);
        if (!channel) {
            source = "unavailable: the firmware's slot name \"" + module.locator +
                     "\" doesn't tell the channel";
            return facts;
        }
        channels.insert(*channel);
    }
    facts["memory_channels"] = std::to_string(channels.size());
    source = "SMBIOS type 17";
    return facts;
}

}  // namespace assay::cpu
