#include "probes/efficiency.h"

#include <cmath>
#include <utility>

#include "measure/summary.h"

namespace assay::probes {

namespace {

// Launches whose "time" is in cycles of all units instead of seconds.
std::vector<record::Launch> in_cycles(const record::Result& result) {
    std::vector<record::Launch> launches;
    for (const auto& launch : result.launches) {
        const auto time = launch.samples.find("time");
        const auto clock = launch.samples.find("clock_mhz");
        if (time == launch.samples.end() || clock == launch.samples.end()) continue;
        const auto& seconds = time->second.values;
        const auto& mhz = clock->second.values;
        record::Launch counted;
        auto& cycles = counted.samples["time"];
        cycles.unit = "cycles";
        for (std::size_t i = 0; i < seconds.size() && i < mhz.size(); ++i) {
            if (!std::isfinite(mhz[i])) continue;
            cycles.values.push_back(seconds[i] * mhz[i] * 1e6 * result.conditions.compute_units);
        }
        if (!cycles.values.empty()) launches.push_back(std::move(counted));
    }
    return launches;
}

}  // namespace

std::vector<record::Metric> efficiency_metrics(const record::Result& result, double flop) {
    std::vector<record::Metric> metrics;
    if (result.conditions.compute_units > 0) {
        const auto launches = in_cycles(result);
        if (!launches.empty()) {
            metrics.push_back(measure::rate_metric(
                "flop_per_cycle", "FLOP/cycle",
                "FLOP of one call / (its time x the clock stamped beside it x compute units), "
                "median over calls",
                flop, launches));
        }
    }
    const auto joules = result.conditions.energy_per_call_j;
    if (joules && *joules > 0) {
        record::Metric metric;
        metric.name = "flop_per_joule";
        metric.unit = "GFLOP/J";
        metric.better = record::Better::higher;
        metric.definition =
            "FLOP of one call / its energy, 1e9 per joule: mean power x median time";
        metric.value = flop / *joules / 1e9;
        metrics.push_back(std::move(metric));
    }
    return metrics;
}

}  // namespace assay::probes
