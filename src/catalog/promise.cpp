#include "catalog/promise.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/units.h"
#include "catalog/processor.h"

namespace assay::catalog {

namespace {

constexpr std::array kTypes{"fp64", "fp32", "fp16", "bf16", "int8"};
constexpr const char* kFile = "data/processors.toml";

std::optional<int> count_fact(const record::DeviceFacts& facts, const std::string& name) {
    const auto fact = facts.facts.find(name);
    if (fact == facts.facts.end()) return std::nullopt;
    try {
        const auto value = parse_integer(fact->second, name);
        if (value >= 0 && value < 1'000'000) return static_cast<int>(value);
    } catch (const UsageError&) {
        // Not a number: as unknown as one that isn't there.
    }
    return std::nullopt;
}

// The highest rate of a core whose instruction sets the device has.
const Rate* best_rate(const Core& core, const std::string& type,
                      const record::DeviceFacts& device) {
    const auto ways = core.rates.find(type);
    if (ways == core.rates.end()) return nullptr;
    const Rate* best = nullptr;
    for (const auto& rate : ways->second) {
        const bool usable = std::ranges::all_of(rate.features, [&](const auto& feature) {
            return std::ranges::find(device.features, feature) != device.features.end();
        });
        if (usable && (best == nullptr || rate.flop_per_cycle > best->flop_per_cycle)) {
            best = &rate;
        }
    }
    return best;
}

// Cores of one kind that this process may use.
struct Share {
    int cores = 0;
    const Core* core = nullptr;
};

// None when cores of two kinds can't be told apart.
std::vector<Share> shares(const Processor& row, const record::DeviceFacts& facts) {
    if (!row.efficiency_core) return {{facts.compute_units, &row.core}};
    const auto performance = count_fact(facts, "performance_cores");
    const auto efficiency = count_fact(facts, "efficiency_cores");
    if (!performance || !efficiency) return {};
    return {{*performance, &row.core}, {*efficiency, &*row.efficiency_core}};
}

Promise flop_per_cycle(const Processor& row, const std::string& type,
                       const record::DeviceFacts& facts) {
    Promise promise{std::nullopt, "FLOP/cycle", ""};
    const auto kinds = shares(row, facts);
    if (kinds.empty()) {
        promise.basis = fmt::format(
            "{} mixes {} and {} cores, and how many of each are usable "
            "can't be read",
            row.name, row.core.name, row.efficiency_core->name);
        return promise;
    }
    double sum = 0;
    for (const auto& [cores, core] : kinds) {
        if (cores == 0) continue;
        const auto* rate = best_rate(*core, type, facts);
        if (rate == nullptr) {
            promise.basis = fmt::format(
                "no {} rate of {} cores for this device's instruction sets "
                "in {}",
                type, core->name, kFile);
            return promise;
        }
        sum += cores * rate->flop_per_cycle;
        promise.basis += fmt::format("{}{} cores x {:.0f} FLOP/cycle with {} ({})",
                                     promise.basis.empty() ? "" : ", ", cores, rate->flop_per_cycle,
                                     fmt::join(rate->features, " and "), core->source);
    }
    if (sum > 0) promise.value = sum;
    if (!promise.value) promise.basis = "this process may use no core";
    return promise;
}

Promise peak(const Promise& per_cycle, const record::DeviceFacts& facts) {
    Promise promise{std::nullopt, "FLOP/s", per_cycle.basis};
    if (!per_cycle.value) return promise;
    if (!facts.max_clock_mhz) {
        promise.basis = "highest clock: " + facts.max_clock_source;
        return promise;
    }
    promise.value = *per_cycle.value * *facts.max_clock_mhz * 1e6;
    promise.basis = fmt::format("{:.0f} FLOP/cycle x {} MHz ({})", *per_cycle.value,
                                format_number(*facts.max_clock_mhz), facts.max_clock_source);
    return promise;
}

void set_memory(const Processor& row, const record::DeviceFacts& facts, Promises& promises) {
    auto& bandwidth = promises.bandwidth;
    // Its firmware describes what the host makes up, and neighbours use the same channels.
    if (facts.virtual_machine) {
        bandwidth.basis = "a virtual machine sees part of the memory of its host";
        return;
    }
    const auto sockets = count_fact(facts, "packages");
    if (row.channels && sockets) promises.channels = *row.channels * *sockets;
    promises.channels_populated = count_fact(facts, "memory_channels");
    if (!row.channels || !row.mts) {
        bandwidth.basis =
            fmt::format("the memory of {} isn't in {} ({})", row.name, kFile, row.source);
    } else if (!sockets) {
        bandwidth.basis = "the number of sockets can't be read";
    } else if (facts.compute_units < facts.compute_units_total) {
        bandwidth.basis = fmt::format("this process may use {} of {} cores", facts.compute_units,
                                      facts.compute_units_total);
    } else {
        const auto speed = count_fact(facts, "memory_speed_mts");
        const double transfers = speed.value_or(*row.mts);
        bandwidth.value = *promises.channels * transfers * 1e6 * 8;
        bandwidth.basis = fmt::format(
            "{} channels x {} MT/s ({}) x 8 bytes ({})", *promises.channels,
            format_number(transfers),
            speed ? "as set" : "the highest allowed; the speed in use can't be read", row.source);
    }
}

void set_unknown(const std::string& reason, Promises& promises) {
    for (const auto* type : kTypes) {
        promises.flop_per_cycle[type] = {std::nullopt, "FLOP/cycle", reason};
        promises.peak[type] = {std::nullopt, "FLOP/s", reason};
    }
    promises.bandwidth.basis = reason;
}

std::string why_not_found(const record::DeviceFacts& facts) {
    const auto id = identity(facts);
    if (!id) return "the processor's family and model can't be read";
    return fmt::format("family {} model {} of {} isn't in {}", id->family, id->model, id->vendor,
                       kFile);
}

}  // namespace

Promises promises(const record::DeviceFacts& facts) {
    Promises promises{.model = "",
                      .flop_per_cycle = {},
                      .peak = {},
                      .bandwidth = {std::nullopt, "B/s", ""},
                      .channels = {},
                      .channels_populated = {}};
    if (facts.kind != "cpu") {
        set_unknown(fmt::format("no data on {} devices", facts.kind), promises);
        return promises;
    }
    std::vector<Processor> processors;
    try {
        processors = load_processors(data_dir() / "processors.toml");
    } catch (const Error& error) {
        // What was measured must not be lost to a broken installation.
        set_unknown(error.what(), promises);
        return promises;
    }
    const auto* row = find_processor(processors, facts);
    if (row == nullptr) {
        set_unknown(why_not_found(facts), promises);
        return promises;
    }
    promises.model = row->name;
    for (const auto* type : kTypes) {
        promises.flop_per_cycle[type] = flop_per_cycle(*row, type, facts);
        promises.peak[type] = peak(promises.flop_per_cycle[type], facts);
    }
    set_memory(*row, facts, promises);
    return promises;
}

}  // namespace assay::catalog
