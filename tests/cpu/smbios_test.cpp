#include "cpu/smbios.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture_root.h"

namespace assay::cpu {
namespace {

using testing::HasSubstr;

// A structure of type 17 as of SMBIOS 2.8 (40 bytes), with its strings.
std::string memory_device(const std::string& locator, const std::string& bank, unsigned megabytes,
                          unsigned speed) {
    std::string area(40, '\0');
    area[0] = 17;
    area[1] = 40;
    const auto put = [&](std::size_t offset, unsigned value) {
        area[offset] = static_cast<char>(value & 0xFF);
        area[offset + 1] = static_cast<char>(value >> 8 & 0xFF);
    };
    if (megabytes >= 0x7FFF) {
        put(0x0C, 0x7FFF);
        put(0x1C, megabytes & 0xFFFF);
        put(0x1E, megabytes >> 16);
    } else {
        put(0x0C, megabytes);
    }
    area[0x10] = 1;
    area[0x11] = bank.empty() ? 0 : 2;  // a string that isn't there has the number 0
    put(0x20, speed);
    const std::string strings = locator + '\0' + (bank.empty() ? "" : bank + '\0');
    return area + strings + '\0';
}

// Of type 0, without strings.
std::string other_structure() {
    return std::string("\x00\x06\x01\x00\xAA\xBB\x00\x00", 8);
}

TEST(Smbios, ReadsModulesAmongOtherStructures) {
    const auto modules = parse_memory_modules(other_structure() +
                                              memory_device("CPU0_DIMM_A1", "BANK 0", 65536, 4800) +
                                              memory_device("CPU0_DIMM_A2", "BANK 1", 0, 0) +
                                              memory_device("CPU0_DIMM_B1", "BANK 2", 16384, 4400));
    ASSERT_EQ(modules.size(), 3U);
    EXPECT_EQ(modules[0].locator, "CPU0_DIMM_A1");
    EXPECT_EQ(modules[0].bank, "BANK 0");
    EXPECT_EQ(modules[0].bytes, std::uint64_t{64} << 30);
    EXPECT_EQ(modules[0].speed_mts, 4800U);
    EXPECT_EQ(modules[1].bytes, 0U);
    EXPECT_EQ(modules[2].bytes, std::uint64_t{16} << 30);
}

TEST(Smbios, EveryTruncationGivesTheModulesBeforeIt) {
    const std::string one = memory_device("DIMM 0", "P0 CHANNEL A", 8192, 3200);
    const std::string table = one + one;
    for (std::size_t length = 0; length <= table.size(); ++length) {
        const auto modules = parse_memory_modules(std::string_view(table).substr(0, length));
        EXPECT_EQ(modules.size(), length / one.size()) << length;
    }
}

TEST(Smbios, TellsChannelsFromTheNamesThatSayThem) {
    const auto channel = [](const char* locator, const char* bank) {
        return channel_of({locator, bank, 1, 1}).value_or("");
    };
    EXPECT_EQ(channel("DIMM 0", "P0 CHANNEL A"), "P0 CHANNEL A");
    EXPECT_EQ(channel("DIMM1", "P1_Node1_Channel3_Dimm1"), "P1_Node1_Channel3");
    EXPECT_EQ(channel("CPU1_DIMM_A2", "NODE 2"), "CPU1_DIMM_A");
    EXPECT_EQ(channel("P1-DIMMB1", ""), "P1-DIMMB");
    EXPECT_EQ(channel("PROC 1 DIMM 12", "Not Specified"), "");
    EXPECT_EQ(channel("A1", "Not Specified"), "");
}

TEST(Smbios, CountsChannelsAndTakesTheSlowestSpeed) {
    FixtureRoot root;
    root.file("sys/firmware/dmi/tables/DMI", memory_device("CPU0_DIMM_A1", "", 8192, 4800) +
                                                 memory_device("CPU0_DIMM_A2", "", 8192, 4800) +
                                                 memory_device("CPU0_DIMM_B1", "", 8192, 4400) +
                                                 memory_device("CPU0_DIMM_C1", "", 0, 0));
    const auto facts = read_memory_facts(root.path());
    EXPECT_EQ(facts.at("memory_slots"), "4");
    EXPECT_EQ(facts.at("memory_modules"), "3");
    EXPECT_EQ(facts.at("memory_channels"), "2");
    EXPECT_EQ(facts.at("memory_speed_mts"), "4400");
    EXPECT_EQ(facts.at("memory_channels_source"), "SMBIOS type 17");
}

TEST(Smbios, UnreadableOrMuteFirmwareIsAReasonNotAGuess) {
    FixtureRoot root;
    auto facts = read_memory_facts(root.path());
    EXPECT_FALSE(facts.contains("memory_channels"));
    EXPECT_THAT(facts.at("memory_channels_source"), HasSubstr("unavailable: can't read"));
    root.file("sys/firmware/dmi/tables/DMI", memory_device("PROC 1 DIMM 1", "", 8192, 4800));
    facts = read_memory_facts(root.path());
    EXPECT_FALSE(facts.contains("memory_channels"));
    EXPECT_THAT(facts.at("memory_channels_source"), HasSubstr("PROC 1 DIMM 1"));
    EXPECT_EQ(facts.at("memory_speed_mts"), "4800");
    root.file("sys/firmware/dmi/tables/DMI", other_structure());
    EXPECT_THAT(read_memory_facts(root.path()).at("memory_channels_source"),
                HasSubstr("no memory module"));
}

}  // namespace
}  // namespace assay::cpu
