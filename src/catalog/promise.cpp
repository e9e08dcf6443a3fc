#include "catalog/promise.h"

#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"
#include "catalog/promise_parts.h"

namespace assay::catalog {

namespace {

constexpr std::array kProcessorTypes{"fp64", "fp32", "fp16", "bf16", "int8"};
// What is left out isn't a type of theirs: a product of it is skipped.
constexpr std::array kAcceleratorTypes{"fp64",       "fp32",         "tf32",     "fp16", "bf16",
                                       "fp8_e4m3fn", "fp8_e4m3fnuz", "fp8_e5m2", "int8"};

}  // namespace

std::optional<int> count_fact(const record::DeviceFacts& facts, const std::string& name) {
    const auto fact = facts.facts.find(name);
    if (fact == facts.facts.end()) return std::nullopt;
    try {
        const auto value = parse_integer(fact->second, name);
        if (value >= 0 && value < 1'000'000) return static_cast<int>(value);
    } catch (const UsageError&) {
        // Not a number.
    }
    return std::nullopt;
}

Promise peak_at_highest_clock(const Promise& per_cycle, const record::DeviceFacts& facts) {
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

Promises unknown_promises(const std::string& device_kind, const std::string& reason) {
    Promises promises;
    const auto add = [&](const char* type) {
        promises.flop_per_cycle[type] = {std::nullopt, "FLOP/cycle", reason};
        promises.peak[type] = {std::nullopt, "FLOP/s", reason};
    };
    if (device_kind == "cpu") {
        for (const auto* type : kProcessorTypes) add(type);
    } else {
        for (const auto* type : kAcceleratorTypes) {
            add(type);
            promises.datasheet[type] = {std::nullopt, "FLOP/s", reason};
        }
    }
    promises.bandwidth = {std::nullopt, "B/s", reason};
    promises.bandwidth_peak = {std::nullopt, "B/s", reason};
    return promises;
}

std::string facts_file(const std::string& device_kind) {
    return device_kind == "cpu" ? "data/processors.toml" : "data/accelerators.toml";
}

Promises promises(const record::DeviceFacts& facts) {
    try {
        if (facts.kind == "cpu") return processor_promises(facts);
        if (facts.kind == "cuda" || facts.kind == "hip") return accelerator_promises(facts);
    } catch (const Error& error) {
        // What was measured must not be lost to a broken installation.
        return unknown_promises(facts.kind, error.what());
    }
    return unknown_promises(facts.kind, fmt::format("no data on {} devices", facts.kind));
}

}  // namespace assay::catalog
