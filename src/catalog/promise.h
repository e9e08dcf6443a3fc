// What a device is promised to do, from shipped facts (data/*.toml) and what it says of itself.
// A promise that can't be read is unknown, never a guess.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "record/device_facts.h"

namespace assay::catalog {

struct Promise {
    std::optional<double> value;
    std::string unit;   // "FLOP/s", "B/s", "FLOP/cycle"
    std::string basis;  // how it is made, with the source: or, without a value, why it is unknown
};

struct Promises {
    std::string model;  // the catalog's name of the device, "" when it isn't there
    // By operand type ("fp32", "bf16", "int8"), for all compute units of DeviceFacts.
    std::map<std::string, Promise> flop_per_cycle;
    // flop_per_cycle times the highest clock: what no run may exceed.
    std::map<std::string, Promise> peak;
    // To main memory, all channels that the maker gives the device.
    Promise bandwidth;
    // Channels the maker gives it, and those that are populated, where both can be read.
    std::optional<int> channels, channels_populated;
};

// Never throws for an unknown device: its promises are unknown and say why.
Promises promises(const record::DeviceFacts& facts);

}  // namespace assay::catalog
