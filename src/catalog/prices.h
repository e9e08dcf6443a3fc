// data/prices.toml: what the cost of a system is computed from. The user copies and edits it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/fat_tree.h"
#include "catalog/source.h"

namespace assay::catalog {

// One number: a price, a power, a rate, a share.
struct Input {
    std::string name;
    std::string what;  // in words
    std::string unit;  // "$", "$/month", "share", ...: see input_units()
    double value = 0;
    std::optional<double> low, high;  // both or neither: how far it may be off
    std::string range;                // where those come from, in words
    std::string as_of;                // YYYY, YYYY-MM, YYYY-MM-DD, "" where the source has no date
    std::string source;
    bool assumption = false;  // no source found: the user's own number belongs here
    bool secondary = false;   // read where third parties quote it
    bool given = false;       // the user's own, by set_input()

    bool operator==(const Input&) const = default;
};

// What is bought as one: a server, or a rack of trays.
struct System {
    std::string what;
    std::string device;  // a name of accelerators.toml
    int devices = 8;
    int nodes = 1;             // that the network sees: 1, or the trays of a rack
    int ports = 8;             // NIC ports of a node
    std::string price, power;  // names of inputs: "$" of one, "kW" of one
    std::string nic;           // of an input; "" where the price includes the NICs
    std::string network;       // that it is built with unless another is asked for
};

// The parts of a network and how they are wired. Each part is the name of an input, "X" its price
// and "X_kw" its power.
struct Network {
    std::string what;
    FatTree tree;
    std::string switch_part, switch_module, nic_module, copper_cable, fibre_cable;
};

struct Prices {
    std::string file;
    std::map<std::string, Input> inputs;
    std::map<std::string, System> systems;
    std::map<std::string, Network> networks;

    // These throw UsageError: a price that isn't there names itself and the file to add it to, a
    // system or network gives the nearest name.
    const Input& input(std::string_view name) const;
    const System& system(std::string_view name) const;
    const Network& network(std::string_view name) const;
};

const std::vector<std::string>& input_units();
// The unit that an input of that name must have: of what every cost needs, and of the parts that
// the systems and networks name. None where nothing reads it.
std::optional<std::string> expected_unit(const Prices& prices, const std::string& name);
// Puts a number in place of the file's, or adds one that the file lacks. The range widens to hold
// it. Throws UsageError for a name that nothing reads and a number that can't be.
void set_input(Prices& prices, const std::string& name, double value);
// Puts a row in place of the file's. Throws UsageError for a name that nothing reads and for
// another unit.
void replace_input(Prices& prices, const Input& input);
// Throws UsageError where a number of that unit can't be `value`: shares go from 0 to 1, ratios
// from 1, years from 0.1 to 100, hours of a month to 744, and everything else, prices too, is above
// 0.
void check_amount(std::string_view name, std::string_view unit, double value);

// Throws UsageError "file:line:column: reason" for what is malformed, misses or isn't known.
Prices load_prices(const std::filesystem::path& file);
// [[input]] rows of a file's root.
std::vector<Input> read_inputs(const FactFile& file, const nlohmann::json& root,
                               const Sources& sources);

// Whether a price of `as_of` is over twelve months old on `date` (YYYY-MM-DD). A year or month
// without a day counts as its last; one without any date is old.
bool over_a_year_old(std::string_view as_of, std::string_view date);

}  // namespace assay::catalog
