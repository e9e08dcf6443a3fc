#include "judge/look.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "work/transfer.h"

namespace assay::judge {

namespace {

constexpr std::size_t kEvidenceLines = 10;

bool exceeds_caches(const record::Result& result, const record::DeviceFacts* facts) {
    return facts != nullptr && result.conditions.footprint_bytes > facts->last_level_cache_bytes;
}

bool is_local(const record::Case& what) {
    return !what.has("nodes") || what.at("nodes") == "local";
}

}  // namespace

std::string place(const record::Result& result) {
    return fmt::format("{} {} {} {}", result.probe, result.device, result.conditions.protocol,
                       result.what.text());
}

bool computes_products(const record::Result& result) {
    return result.probe == "gemm" || result.probe == "attention";
}

std::string text_without(const record::Case& what, std::string_view pair) {
    std::vector<std::string> words;
    for (const auto& one : what.pairs()) {
        if (!one.is_default && one.name != pair) words.push_back(one.text());
    }
    return join(words, " ");
}

std::optional<double> measured(const record::Result& result, std::string_view metric) {
    const auto* found = result.metric(metric);
    if (result.status != record::Status::ok || found == nullptr) return std::nullopt;
    if (!std::isfinite(found->value) || found->value <= 0) return std::nullopt;
    return found->value;
}

const record::DeviceFacts* device_facts(const Evidence& evidence, const std::string& device) {
    const auto& devices = evidence.run.provenance.devices;
    const auto found = std::ranges::find(devices, device, &record::DeviceFacts::id);
    return found == devices.end() ? nullptr : &*found;
}

std::vector<double> readings(const record::Launch& launch, const std::string& quantity) {
    const auto found = launch.telemetry.find(quantity);
    if (found == launch.telemetry.end()) return {};
    auto values = found->second;
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    return values;
}

std::optional<double> highest_clock_mhz(const record::Result& result) {
    auto highest = result.conditions.clock_mhz;
    for (const auto& launch : result.launches) {
        for (const double mhz : readings(launch, "clock_mhz")) {
            if (mhz > highest.value_or(0)) highest = mhz;
        }
    }
    return highest;
}

std::vector<const record::Result*> main_memory(const Evidence& evidence,
                                               const std::string& device) {
    std::map<std::string, std::uint64_t> largest;  // by kernel
    std::vector<const record::Result*> results;
    for (const auto& result : evidence.run.results) {
        if (result.probe != "memory" || result.device != device || !is_local(result.what)) continue;
        if (work::find_transfer(result.what.at("op"))) continue;
        if (!measured(result, "bandwidth")) continue;
        if (!exceeds_caches(result, device_facts(evidence, device))) continue;
        auto& size = largest[result.what.at("op")];
        size = std::max(size, result.what.size("size"));
        results.push_back(&result);
    }
    std::erase_if(results, [&](const auto* result) {
        return result->what.size("size") < largest.at(result->what.at("op"));
    });
    return results;
}

bool is_about_memory(const record::Check& check) {
    return check.name == "memory returned";
}

std::string counted(std::size_t n, const std::string& noun) {
    return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

void Lines::add(const record::Result& result, const std::string& detail) {
    lines_.push_back(place(result) + ": " + detail);
}

void Lines::append(const Lines& other) {
    lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end());
}

std::vector<record::Finding> Lines::finding(std::string_view rule, record::Severity severity,
                                            const std::function<std::string(std::size_t)>& message,
                                            std::string advice) const {
    if (lines_.empty()) return {};
    auto evidence = lines_;
    if (evidence.size() > kEvidenceLines) {
        evidence.resize(kEvidenceLines);
        evidence.push_back(fmt::format("and {} more", lines_.size() - kEvidenceLines));
    }
    return {{std::string(rule), severity, message(lines_.size()), std::move(evidence),
             std::move(advice)}};
}

}  // namespace assay::judge
