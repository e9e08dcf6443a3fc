#include "catalog/prices.h"

#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "catalog/fact_file.h"

namespace assay::catalog {

namespace {

using nlohmann::json;

constexpr double kMost = 1e15;

template <class T>
std::vector<std::string> names_of(const std::map<std::string, T>& table) {
    std::vector<std::string> names;
    for (const auto& [name, value] : table) names.push_back(name);
    return names;
}

// Why a number of that unit can't be `value`, "" where it can.
std::string amount_problem(std::string_view unit, double value) {
    if (!std::isfinite(value)) return "expected a number";
    if (unit.starts_with("share")) {
        return value >= 0 && value <= 1 ? "" : "a share goes from 0 to 1";
    }
    if (unit == "ratio") return value >= 1 && value <= kMost ? "" : "a ratio is 1 or more";
    if (unit == "years") return value >= 0.1 && value <= 100 ? "" : "years go from 0.1 to 100";
    if (unit == "hours") return value > 0 && value <= 744 ? "" : "a month has at most 744 hours";
    if (value > kMost) return "expected a number up to 1e15";
    return value > 0 ? "" : "expected a number above 0";
}

double amount(const FactFile& file, const json& row, const std::string& at, const char* key,
              const std::string& unit) {
    if (!row.contains(key)) file.fail(at, fmt::format("\"{}\" is missing", key));
    const auto& value = row.at(key);
    const std::string here = at + "/" + key;
    if (!value.is_number()) file.fail(here, "expected a number");
    const auto number = value.get<double>();
    if (const auto problem = amount_problem(unit, number); !problem.empty()) {
        file.fail(here, problem);
    }
    return number;
}

Input input(const FactFile& file, const json& row, const std::string& at, const Sources& sources) {
    if (!row.is_object()) file.fail(at, "an input is written [[input]]");
    file.expect_keys(at, row,
                     {"name", "what", "unit", "value", "low", "high", "range", "as_of", "source",
                      "assumption", "secondary"});
    Input input;
    input.name = file.text(row, at, "name");
    input.what = file.text_or(row, at, "what", "");
    input.unit = file.word(row, at, "unit", input_units());
    input.value = amount(file, row, at, "value", input.unit);
    if (row.contains("low") || row.contains("high")) {
        input.low = amount(file, row, at, "low", input.unit);
        input.high = amount(file, row, at, "high", input.unit);
        if (*input.low > input.value) file.fail(at + "/low", "the low is above the value");
        if (*input.high < input.value) file.fail(at + "/high", "the high is below the value");
    }
    input.range = file.text_or(row, at, "range", "");
    const auto& source = named_source(file, row, at, sources);
    input.source = source.text;
    input.as_of = file.text_or(row, at, "as_of", source.date);
    static const std::regex kDate("[0-9]{4}(-(0[1-9]|1[0-2])(-[0-9]{2})?)?");
    if (!input.as_of.empty() && !std::regex_match(input.as_of, kDate)) {
        file.fail(at + (row.contains("as_of") ? "/as_of" : "/source"),
                  "expected a date as \"2024\", \"2024-12\" or \"2024-12-22\"");
    }
    input.assumption = file.flag(row, at, "assumption");
    input.secondary = source.secondary || file.flag(row, at, "secondary");
    return input;
}

int count(const FactFile& file, const json& table, const std::string& at, const char* key,
          int otherwise) {
    const int value = file.optional_integer(table, at, key).value_or(otherwise);
    if (value < 1) file.fail(at + "/" + key, "expected 1 or more");
    return value;
}

System system(const FactFile& file, const json& table, const std::string& at) {
    file.expect_keys(
        at, table,
        {"what", "device", "devices", "nodes", "ports", "price", "power", "nic", "network"});
    System system;
    system.what = file.text(table, at, "what");
    system.device = file.text_or(table, at, "device", "");
    system.devices = count(file, table, at, "devices", system.devices);
    system.nodes = count(file, table, at, "nodes", system.nodes);
    system.ports = count(file, table, at, "ports", system.ports);
    system.price = file.text(table, at, "price");
    system.power = file.text(table, at, "power");
    system.nic = file.text_or(table, at, "nic", "");
    system.network = file.text(table, at, "network");
    return system;
}

Network network(const FactFile& file, const json& table, const std::string& at) {
    std::vector<std::string> keys{"what",       "switch",       "switch_module",
                                  "nic_module", "copper_cable", "fibre_cable"};
    keys.insert(keys.end(), fat_tree_keys().begin(), fat_tree_keys().end());
    file.expect_keys(at, table, keys);
    Network network;
    network.what = file.text(table, at, "what");
    for (const auto& key : fat_tree_keys()) {
        if (!table.contains(key)) continue;
        const auto& value = table.at(key);
        const std::string here = at + "/" + key;
        const auto number = value.is_boolean() ? int{value.get<bool>()} : file.integer(value, here);
        try {
            set(network.tree, key, number);
        } catch (const UsageError& error) {
            file.fail(here, error.hint());
        }
    }
    network.switch_part = file.text(table, at, "switch");
    network.switch_module = file.text(table, at, "switch_module");
    network.nic_module = file.text(table, at, "nic_module");
    network.copper_cable = file.text(table, at, "copper_cable");
    network.fibre_cable = file.text(table, at, "fibre_cable");
    return network;
}

template <class T, class Read>
std::map<std::string, T> tables(const FactFile& file, const json& root, const std::string& key,
                                Read&& read) {
    std::map<std::string, T> all;
    if (!root.contains(key)) return all;
    for (const auto& [name, table] : file.table(root, "", key).items()) {
        const std::string at = fmt::format("/{}/{}", key, name);
        if (!table.is_object()) file.fail(at, fmt::format("{} is written [{}.NAME]", key, key));
        all[name] = read(file, table, at);
    }
    return all;
}

// What every cost needs.
const std::map<std::string, std::string>& rates() {
    static const std::map<std::string, std::string> kRates{
        {"availability", "share"},
        {"back_end_share", "share"},
        {"checkpoint_write", "seconds"},
        {"colocation", "$/kW-month"},
        {"device_failure_rate", "share/year"},
        {"electricity", "$/kWh"},
        {"failures", "per 1000 node-days"},
        {"hands", "$/month"},
        {"hot_spares", "share"},
        {"hours_per_month", "hours"},
        {"installation", "$"},
        {"internet", "$/month"},
        {"it_power_quoted_kw", "kW"},
        {"life", "years"},
        {"link_mttf", "years"},
        {"load", "share"},
        {"network_quoted", "$"},
        {"other_it_share", "share"},
        {"pue", "ratio"},
        {"residual", "share"},
        {"restart", "minutes"},
        {"service", "$"},
        {"software", "$"},
        {"storage_per_1024_devices", "TB"},
        {"storage_per_tb", "$/TB"},
        {"storage_quoted", "$"},
        {"used_share", "share"},
        {"wacc", "share/year"},
        {"warranty", "years"},
    };
    return kRates;
}

// Of every part that a system or network names: its price and its power.
std::map<std::string, std::string> part_units(const Prices& prices) {
    std::map<std::string, std::string> units;
    const auto part = [&](const std::string& name) {
        units[name] = "$";
        units[name + "_kw"] = "kW";
    };
    for (const auto& [name, network] : prices.networks) {
        part(network.switch_part);
        part(network.switch_module);
        part(network.nic_module);
        units[network.copper_cable] = units[network.fibre_cable] = "$";
    }
    for (const auto& [name, system] : prices.systems) {
        units[system.price] = "$";
        units[system.power] = "kW";
        if (!system.nic.empty()) part(system.nic);
    }
    return units;
}

// The unit of an input of that name, which may not be there yet.
std::string unit_of(const Prices& prices, const std::string& name) {
    if (const auto unit = expected_unit(prices, name)) return *unit;
    const auto found = prices.inputs.find(name);
    if (found != prices.inputs.end()) return found->second.unit;
    auto known = names_of(prices.inputs);
    for (const auto& [rate, unit] : rates()) known.push_back(rate);
    for (const auto& [part, unit] : part_units(prices)) known.push_back(part);
    // Over a hundred names are too many for a hint.
    const auto near = nearest(name, known);
    throw UsageError(fmt::format("unknown input {:?}", name),
                     (near.empty() ? "" : fmt::format("did you mean {:?}? ", near)) +
                         "assay cost --list shows all that the price file has");
}

}  // namespace

const std::vector<std::string>& input_units() {
    static const std::vector<std::string> kUnits{
        "$",     "$/month", "$/kWh",   "$/kW-month", "$/TB",
        "kW",    "TB",      "share",   "share/year", "ratio",
        "years", "hours",   "minutes", "seconds",    "per 1000 node-days"};
    return kUnits;
}

void check_amount(std::string_view name, std::string_view unit, double value) {
    const auto problem = amount_problem(unit, value);
    if (problem.empty()) return;
    throw UsageError(fmt::format("{} {}: {}", name, exact_number(value), problem),
                     unit.starts_with("$")
                         ? "what isn't paid for is left out with --without, never priced at nothing"
                         : fmt::format("its unit is {}", unit));
}

std::optional<std::string> expected_unit(const Prices& prices, const std::string& name) {
    if (const auto rate = rates().find(name); rate != rates().end()) return rate->second;
    const auto parts = part_units(prices);
    if (const auto part = parts.find(name); part != parts.end()) return part->second;
    return std::nullopt;
}

void set_input(Prices& prices, const std::string& name, double value) {
    Input input;
    input.unit = unit_of(prices, name);
    const auto found = prices.inputs.find(name);
    if (found != prices.inputs.end()) input = found->second;
    input.name = name;
    check_amount(name, input.unit, value);
    input.value = value;
    if (input.low) {
        input.low = std::min(*input.low, value);
        input.high = std::max(*input.high, value);
    }
    input.source = "given on the command line";
    input.as_of.clear();
    input.given = true;
    input.assumption = input.secondary = false;
    prices.inputs[name] = std::move(input);
}

void replace_input(Prices& prices, const Input& input) {
    const auto unit = unit_of(prices, input.name);
    if (unit != input.unit) {
        throw UsageError(fmt::format("the unit of {} is {}, not {}", input.name, unit, input.unit),
                         "give it in " + unit);
    }
    prices.inputs[input.name] = input;
}

const Input& Prices::input(std::string_view name) const {
    const auto found = inputs.find(std::string(name));
    if (found != inputs.end()) return found->second;
    throw UsageError(fmt::format("no price or rate {:?} in {}", name, file),
                     fmt::format("give it with --set {}=VALUE, or add an [[input]] of that name to "
                                 "a copy of the file and name the copy with --prices",
                                 name));
}

const System& Prices::system(std::string_view name) const {
    const auto found = systems.find(std::string(name));
    if (found == systems.end()) throw_unknown("system", name, names_of(systems));
    return found->second;
}

const Network& Prices::network(std::string_view name) const {
    const auto found = networks.find(std::string(name));
    if (found == networks.end()) throw_unknown("network", name, names_of(networks));
    return found->second;
}

std::vector<Input> read_inputs(const FactFile& file, const json& root, const Sources& sources) {
    std::vector<Input> inputs;
    for (const auto& row : file.array(root, "", "input")) {
        const std::string at = fmt::format("/input/{}", inputs.size());
        inputs.push_back(input(file, row, at, sources));
        const auto same = std::ranges::find(inputs, inputs.back().name, &Input::name);
        if (same + 1 != inputs.end()) {
            file.fail(at + "/name", fmt::format("a second \"{}\"", same->name));
        }
    }
    return inputs;
}

Prices load_prices(const std::filesystem::path& path) {
    json root;
    const FactFile file(path, root);
    file.expect_keys("", root, {"source", "input", "system", "network"});
    Prices prices;
    prices.file = path.string();
    for (auto& row : read_inputs(file, root, read_sources(file, root))) {
        const auto name = row.name;
        prices.inputs[name] = std::move(row);
    }
    prices.systems = tables<System>(file, root, "system", system);
    prices.networks = tables<Network>(file, root, "network", network);
    for (const auto& [name, system] : prices.systems) {
        if (!prices.networks.contains(system.network)) {
            file.fail("/system/" + name + "/network",
                      fmt::format("no [network.{}]", system.network));
        }
    }
    std::size_t index = 0;
    for (const auto& row : file.array(root, "", "input")) {
        const auto& input = prices.inputs.at(row.at("name").get<std::string>());
        const auto unit = expected_unit(prices, input.name);
        if (unit && *unit != input.unit) {
            file.fail(fmt::format("/input/{}/unit", index),
                      fmt::format("the unit of {} is {}", input.name, *unit));
        }
        ++index;
    }
    return prices;
}

bool over_a_year_old(std::string_view as_of, std::string_view date) {
    if (as_of.empty()) return true;
    const auto year = parse_integer(as_of.substr(0, 4), "year") + 1;
    const std::string_view rest = as_of.substr(4);
    const std::string_view latest = "-12-31";
    // Dates of this form sort as words.
    return fmt::format("{}{}{}", year, rest, latest.substr(rest.size())) < date;
}

}  // namespace assay::catalog
