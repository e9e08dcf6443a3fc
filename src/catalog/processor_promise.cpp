#include <algorithm>

#include <fmt/format.h>

#include "base/files.h"
#include "base/units.h"
#include "catalog/processor.h"
#include "catalog/promise_parts.h"

namespace assay::catalog {

namespace {

constexpr const char* kFile = "data/processors.toml";

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

// A hypervisor may pass on a processor's instruction sets and hide its name. A matrix unit that the
// named cores don't have is a sure sign: what they are isn't known then.
std::string disguise(const Processor& row, const record::DeviceFacts& facts) {
    const auto is_of_matrix_unit = [](const std::string& f) { return f.starts_with("amx_"); };
    const auto of_device = std::ranges::find_if(facts.features, is_of_matrix_unit);
    if (of_device == facts.features.end()) return "";
    for (const auto& [type, ways] : row.core.rates) {
        for (const auto& rate : ways) {
            if (std::ranges::any_of(rate.features, is_of_matrix_unit)) return "";
        }
    }
    return fmt::format(
        "it says it is {}, whose cores have no {}: a virtual machine's host hides what it is",
        row.name, *of_device);
}

std::string why_not_found(const record::DeviceFacts& facts) {
    const auto id = identity(facts);
    if (!id) return "the processor's family and model can't be read";
    return fmt::format("family {} model {} of {} isn't in {}", id->family, id->model, id->vendor,
                       kFile);
}

}  // namespace

Promises processor_promises(const record::DeviceFacts& facts) {
    const auto processors = load_processors(data_dir() / "processors.toml");
    const auto* row = find_processor(processors, facts);
    if (row == nullptr) return unknown_promises(facts.kind, why_not_found(facts));
    if (const auto why = disguise(*row, facts); !why.empty()) {
        return unknown_promises(facts.kind, why);
    }
    auto promises = unknown_promises(facts.kind, "");
    promises.model = row->name;
    for (auto& [type, promise] : promises.flop_per_cycle) {
        promise = flop_per_cycle(*row, type, facts);
        promises.peak[type] = peak_at_highest_clock(promise, facts);
    }
    set_memory(*row, facts, promises);
    return promises;
}

}  // namespace assay::catalog
