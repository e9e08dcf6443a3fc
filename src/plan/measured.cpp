#include "plan/measured.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "stats/quantile.h"

namespace assay::plan {

namespace {

constexpr std::int64_t kLargeProduct = 4096;
constexpr std::uint64_t kLargeArray = std::uint64_t{256} << 20;
constexpr std::size_t kRunsLookedAt = 12;  // each is read whole, and a plan is to answer at once

bool is_large_product(const record::Case& what) {
    for (const char* dimension : {"m", "n", "k"}) {
        if (!what.has(dimension) || what.integer(dimension) < kLargeProduct) return false;
    }
    return !what.has("inputs") || what.at("inputs") == "normal" || what.at("inputs") == "uniform";
}

// "bf16", "fp8", "memory"; "" for what is no rate to plan with.
std::string rate_of(const record::Result& result) {
    const auto& what = result.what;
    if (result.probe == "gemm" && what.has("dtype") && is_large_product(what)) {
        return product_type(what.at("dtype"));
    }
    if (result.probe == "memory" && what.has("op") && what.has("size")) {
        const auto& op = what.at("op");
        if ((op == "read" || op == "copy") && what.size("size") >= kLargeArray) return "memory";
    }
    return "";
}

double value_of(const record::Result& result) {
    if (const auto* rate = result.metric("throughput"); rate && rate->unit == "TFLOP/s") {
        return rate->value * 1e12;
    }
    if (const auto* rate = result.metric("bandwidth"); rate && rate->unit == "GB/s") {
        return rate->value * 1e9;
    }
    return 0;
}

struct Values {
    std::vector<double> all, sustained;
};

}  // namespace

std::vector<Measured> measured_in(const record::Run& run, const catalog::Accelerator& device,
                                  const std::vector<catalog::Accelerator>& accelerators) {
    std::vector<std::string> ids;
    for (const auto& facts : run.provenance.devices) {
        const auto found = catalog::find_accelerator(accelerators, facts);
        if (found.row != nullptr && found.row->name == device.name) ids.push_back(facts.id);
    }
    std::map<std::string, Values> values;
    for (const auto& result : run.results) {
        if (result.status != record::Status::ok) continue;
        if (std::ranges::find(ids, result.device) == ids.end()) continue;
        const std::string of = rate_of(result);
        const double value = of.empty() ? 0 : value_of(result);
        if (!(value > 0)) continue;
        values[of].all.push_back(value);
        if (result.conditions.protocol == "sustained") values[of].sustained.push_back(value);
    }
    std::vector<Measured> measured;
    for (const auto& [of, found] : values) {
        const auto& chosen = found.sustained.empty() ? found.all : found.sustained;
        const auto [least, most] = std::ranges::minmax(chosen);
        measured.push_back(
            {of,
             {stats::median(chosen), least, most,
              fmt::format("measured here: {} result{} of run {}, {}", chosen.size(),
                          chosen.size() == 1 ? "" : "s", run.id, run.started.substr(0, 10))}});
    }
    return measured;
}

std::vector<Measured> measured_on(store::Store& store, const catalog::Accelerator& device,
                                  const std::vector<catalog::Accelerator>& accelerators) {
    std::vector<Measured> measured;
    std::size_t looked_at = 0;
    for (const auto& head : store.runs()) {
        if (head.results == 0) continue;
        if (++looked_at > kRunsLookedAt) break;
        for (auto& rate : measured_in(store.load(head.id), device, accelerators)) {
            const auto same = [&](const Measured& one) { return one.of == rate.of; };
            if (std::ranges::none_of(measured, same)) measured.push_back(std::move(rate));
        }
    }
    return measured;
}

}  // namespace assay::plan
