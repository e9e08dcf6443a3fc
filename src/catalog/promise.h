// What a device is promised to do, from shipped facts (data/*.toml) and what it says of itself.
// A promise that can't be read is unknown, never a guess.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catalog/accelerator.h"
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
    // Accelerators only: the datasheet's peak, which holds at a clock of the maker's choice and so
    // may lie below `peak`. Where it is empty, `peak` is what the maker promises.
    std::map<std::string, Promise> datasheet;
    // To main memory: all channels that the maker gives the device, or the datasheet's.
    Promise bandwidth;
    // Accelerators only: what bus width and the highest memory clock allow: no run may exceed it.
    Promise bandwidth_peak;
    // Channels the maker gives it, and those that are populated, where both can be read.
    std::optional<int> channels, channels_populated;
    // The accelerator's row, and how it was found.
    std::optional<Accelerator> accelerator;
    std::string found;
};

// Never throws for an unknown device: its promises are unknown and say why.
Promises promises(const record::DeviceFacts& facts);

// "data/processors.toml" or "data/accelerators.toml": where devices of a kind are looked up.
std::string facts_file(const std::string& device_kind);

}  // namespace assay::catalog
