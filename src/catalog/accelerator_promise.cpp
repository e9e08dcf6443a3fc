#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "base/units.h"
#include "catalog/promise_parts.h"

namespace assay::catalog {

namespace {

std::string with_disagreement(const std::string& basis, const Figures& figures, double scale) {
    const auto differ = disagreement(figures, scale);
    return differ.empty() ? basis : basis + "; " + differ;
}

std::string source_text(const std::string& source, bool secondary) {
    return secondary ? source + ", secondary" : source;
}

Promise flop_per_cycle(const Accelerator& row, const std::string& type,
                       const record::DeviceFacts& facts) {
    Promise promise{std::nullopt, "FLOP/cycle", ""};
    const auto key = catalog_type(type, row.unit.e4m3);
    if (!key) {
        promise.basis = row.unit.e4m3.empty()
                            ? fmt::format("{} has no fp8", row.name)
                            : fmt::format("fp8 of {} is e4m3{}", row.name, row.unit.e4m3);
        return promise;
    }
    const auto rate = row.unit.flop_per_cycle.find(*key);
    if (rate == row.unit.flop_per_cycle.end()) {
        promise.basis = fmt::format("no {} rate of {} in {}", *key, row.name, facts_file(row.kind));
        return promise;
    }
    promise.value = facts.compute_units * rate->second;
    promise.basis = fmt::format("{} compute units x {:.0f} FLOP/cycle ({})", facts.compute_units,
                                rate->second, source_text(row.unit.source, row.unit.secondary));
    return promise;
}

Promise datasheet(const Accelerator& row, const std::string& type) {
    Promise promise{std::nullopt, "FLOP/s", ""};
    const auto key = catalog_type(type, row.unit.e4m3);
    const auto found = key ? row.peak.find(*key) : row.peak.end();
    if (found == row.peak.end() || found->second.empty()) {
        promise.basis = fmt::format("no {} peak of {} in {}", type, row.name, facts_file(row.kind));
        return promise;
    }
    const auto& figure = found->second.front();
    promise.value = figure.value;
    promise.basis = fmt::format("datasheet, {} TFLOP/s{} ({})", exact_number(figure.value / 1e12),
                                figure.mhz ? fmt::format(" at {:.0f} MHz", *figure.mhz) : "",
                                source_text(figure.source, figure.secondary));
    promise.basis = with_disagreement(promise.basis, found->second, 1e12);
    return promise;
}

Promise bandwidth(const Accelerator& row) {
    Promise promise{std::nullopt, "B/s", ""};
    if (row.bandwidth.empty()) {
        promise.basis = fmt::format("no bandwidth of {} in {}", row.name, facts_file(row.kind));
        return promise;
    }
    const auto& figure = row.bandwidth.front();
    promise.value = figure.value;
    promise.basis = fmt::format("datasheet, {} GB/s ({})", exact_number(figure.value / 1e9),
                                source_text(figure.source, figure.secondary));
    promise.basis = with_disagreement(promise.basis, row.bandwidth, 1e9);
    return promise;
}

// NVML's memory clock moves two transfers a cycle; other vendors count otherwise.
Promise bandwidth_peak(const record::DeviceFacts& facts) {
    Promise promise{std::nullopt, "B/s", ""};
    const auto bits = count_fact(facts, "memory_bus_bits");
    const auto mhz = count_fact(facts, "memory_clock_mhz");
    if (facts.kind != "cuda") {
        promise.basis = fmt::format("what a memory clock means isn't known of {}", facts.kind);
    } else if (!bits || !mhz) {
        promise.basis = "memory bus or memory clock can't be read";
    } else {
        promise.value = *bits / 8.0 * 2 * *mhz * 1e6;
        promise.basis = fmt::format("{} bits x 2 x {} MHz / 8", *bits, *mhz);
    }
    return promise;
}

// Why a datasheet doesn't hold for what this process sees of the device; "" when it does.
std::string share_of_device(const record::DeviceFacts& facts) {
    const auto mig = facts.facts.find("mig");
    if (mig != facts.facts.end() && mig->second == "enabled") {
        return "MIG is enabled: a slice has part of the device's units and memory";
    }
    if (facts.compute_units < facts.compute_units_total) {
        return fmt::format("this process may use {} of {} compute units", facts.compute_units,
                           facts.compute_units_total);
    }
    return "";
}

}  // namespace

Promises accelerator_promises(const record::DeviceFacts& facts) {
    const auto accelerators = load_accelerators(data_dir() / "accelerators.toml");
    if (auto share = share_of_device(facts); !share.empty()) {
        return unknown_promises(facts.kind, share);
    }
    const auto found = find_accelerator(accelerators, facts);
    auto promises = unknown_promises(facts.kind, found.how);
    promises.bandwidth_peak = bandwidth_peak(facts);
    if (found.row == nullptr) return promises;
    const auto& row = *found.row;
    promises.model = row.name;
    promises.accelerator = row;
    promises.found = found.how;
    for (auto& [type, promise] : promises.flop_per_cycle) {
        promise = flop_per_cycle(row, type, facts);
        promises.peak[type] = peak_at_highest_clock(promise, facts);
        promises.datasheet[type] = datasheet(row, type);
    }
    promises.bandwidth = bandwidth(row);
    return promises;
}

}  // namespace assay::catalog
