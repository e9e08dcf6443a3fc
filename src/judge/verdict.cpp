#include "judge/verdict.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "judge/look.h"

namespace assay::judge {

namespace {

constexpr std::array kMemoryOps{"read", "copy", "triad", "write", "scale", "add"};

std::string case_text(const record::Result& result) {
    return fmt::format("{} {}", result.conditions.protocol, result.what.text());
}

const catalog::Promises& promises_of(const Evidence& evidence, const std::string& device) {
    static const catalog::Promises kNone;
    const auto found = evidence.promises.find(device);
    return found == evidence.promises.end() ? kNone : found->second;
}

catalog::Promise find_promise(const std::map<std::string, catalog::Promise>& by_type,
                              const std::string& type) {
    const auto found = by_type.find(type);
    if (found != by_type.end()) return found->second;
    return {std::nullopt, "", fmt::format("no promise for {}", type)};
}

Delivered product(const Evidence& evidence, const record::Result& best) {
    const auto& type = best.what.at("dtype");
    const auto& promises = promises_of(evidence, best.device);
    const auto peak = find_promise(promises.peak, type);
    const auto per_cycle = find_promise(promises.flop_per_cycle, type);
    const auto clock = best.conditions.clock_mhz;

    Delivered delivered;
    delivered.device = best.device;
    delivered.quantity = type + " matrix product";
    delivered.value = *measured(best, "throughput");
    delivered.unit = best.metric("throughput")->unit;
    delivered.case_text = case_text(best);
    if (peak.value) delivered.promised = *peak.value / 1e12;
    delivered.promise_basis = peak.basis;
    if (!per_cycle.value) {
        delivered.clock_basis = per_cycle.basis;
    } else if (!clock) {
        delivered.clock_basis = "the clock can't be read: " + best.conditions.clock_source;
    } else {
        delivered.clock_allows = *per_cycle.value * *clock * 1e6 / 1e12;
        delivered.clock_basis =
            fmt::format("{:.0f} FLOP/cycle x {} MHz seen", *per_cycle.value, format_number(*clock));
    }
    return delivered;
}

Delivered memory(const Evidence& evidence, const record::Result& best) {
    const auto& promise = promises_of(evidence, best.device).bandwidth;
    Delivered delivered;
    delivered.device = best.device;
    delivered.quantity = "memory " + best.what.at("op");
    delivered.value = *measured(best, "bandwidth");
    delivered.unit = best.metric("bandwidth")->unit;
    delivered.case_text = case_text(best);
    if (promise.value) delivered.promised = *promise.value / 1e9;
    delivered.promise_basis = promise.basis;
    delivered.clock_basis = "memory has a clock of its own";
    return delivered;
}

// Keeps the better of the two.
void consider(const record::Result*& best, const record::Result& result, const char* metric) {
    const auto value = measured(result, metric);
    if (value && (best == nullptr || *value > *measured(*best, metric))) best = &result;
}

void deliver(const Evidence& evidence, const std::string& device, Verdict& verdict) {
    std::vector<std::string> types;
    std::map<std::string, const record::Result*> products;
    for (const auto& result : evidence.run.results) {
        if (result.probe != "gemm" || result.device != device) continue;
        if (!measured(result, "throughput")) continue;
        const auto& type = result.what.at("dtype");
        if (!products.contains(type)) types.push_back(type);
        consider(products[type], result, "throughput");
    }
    for (const auto& type : types) {
        verdict.delivered.push_back(product(evidence, *products.at(type)));
    }
    const auto in_memory = main_memory(evidence, device);
    for (const auto* op : kMemoryOps) {
        const record::Result* best = nullptr;
        for (const auto* result : in_memory) {
            if (result->what.at("op") == op) consider(best, *result, "bandwidth");
        }
        if (best != nullptr) verdict.delivered.push_back(memory(evidence, *best));
    }
}

std::string share(const Delivered& delivered, std::optional<double> of, const char* what) {
    return of ? fmt::format("{:.0f} % of {}", 100 * delivered.value / *of, what) : "";
}

std::string sentence(const Delivered& delivered, bool product) {
    std::string part = share(delivered, delivered.clock_allows, "what its clock allows");
    if (part.empty()) part = share(delivered, delivered.promised, "its promise");
    if (part.empty()) part = "promise unknown";
    // "fp32" of "fp32 matrix product", "read" of "memory read"
    const auto words = split(delivered.quantity, ' ');
    return fmt::format("{} {} {} ({})", format_number(delivered.value, 3), delivered.unit,
                       product ? words.front() : words.back(), part);
}

// fp32, which every device has, before others; the first kernel of kMemoryOps.
std::string headline_of(const std::string& device, const std::vector<Delivered>& all) {
    const Delivered* product = nullptr;
    const Delivered* memory = nullptr;
    for (const auto& delivered : all) {
        if (delivered.device != device) continue;
        if (delivered.quantity.starts_with("memory ")) {
            if (memory == nullptr) memory = &delivered;
        } else if (product == nullptr || delivered.quantity.starts_with("fp32 ")) {
            product = &delivered;
        }
    }
    if (product == nullptr && memory == nullptr) return device + ": nothing was delivered";
    std::vector<std::string> parts;
    if (product != nullptr) parts.push_back(sentence(*product, true));
    if (memory != nullptr) parts.push_back(sentence(*memory, false));
    return fmt::format("{} delivers {}", device, join(parts, ", "));
}

}  // namespace

Verdict conclude(const Evidence& evidence, const std::vector<record::Finding>& findings) {
    Verdict verdict;
    std::vector<std::string> lines;
    for (const auto& device : evidence.run.provenance.devices) {
        deliver(evidence, device.id, verdict);
        lines.push_back(headline_of(device.id, verdict.delivered));
    }
    if (lines.empty()) lines.emplace_back("no device was opened");
    const auto count = [&](record::Severity severity) {
        return static_cast<std::size_t>(
            std::ranges::count(findings, severity, &record::Finding::severity));
    };
    lines.push_back(fmt::format("{}, {}", counted(count(record::Severity::error), "error"),
                                counted(count(record::Severity::warning), "warning")));
    verdict.headline = join(lines, "; ");
    return verdict;
}

}  // namespace assay::judge
