// data/processors.toml: what a processor's cores compute in a cycle, and the memory it is given.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/device_facts.h"

namespace assay::catalog {

// One way to compute with a type: all of `features` are needed.
struct Rate {
    std::vector<std::string> features;
    double flop_per_cycle = 0;  // of one core
};

struct Core {
    std::string name;
    std::map<std::string, std::vector<Rate>> rates;  // by operand type
    std::string source;
};

struct Processor {
    std::string name;
    std::string vendor;
    int family = 0;
    std::vector<int> models;
    std::vector<int> steppings;       // none: any
    std::vector<std::string> brands;  // parts of the name, one of which it holds; none: any
    Core core;
    std::optional<Core> efficiency_core;
    std::optional<int> channels;  // of one socket, 64 bits each
    std::optional<int> mts;       // highest mega-transfers per second on them
    std::string source;
};

// Throws UsageError "file:line:column: reason" for what is malformed, misses or isn't known.
std::vector<Processor> load_processors(const std::filesystem::path& file);

// How a device identifies itself. ARM's implementer and part stand for family and model.
struct Identity {
    std::string vendor;
    int family = 0, model = 0;
    std::optional<int> stepping;
};
// None when the facts lack them.
std::optional<Identity> identity(const record::DeviceFacts& facts);

// The first row that fits, null when none does.
const Processor* find_processor(const std::vector<Processor>& processors,
                                const record::DeviceFacts& facts);

}  // namespace assay::catalog
