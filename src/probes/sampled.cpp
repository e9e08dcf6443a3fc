#include "probes/sampled.h"

#include <cmath>
#include <limits>
#include <string>

#include <unistd.h>

#include "base/interrupt.h"
#include "base/time.h"
#include "base/units.h"
#include "stats/quantile.h"

namespace assay::probes {

namespace {

using Quantity = std::optional<double> device::Reading::*;

// NaN stands for a reading that was not there, so that every series is as long as "t".
std::vector<double> column(const std::vector<device::Reading>& readings, Quantity quantity) {
    std::vector<double> values;
    bool any = false;
    for (const auto& reading : readings) {
        any = any || (reading.*quantity).has_value();
        values.push_back((reading.*quantity).value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    if (!any) values.clear();
    return values;
}

std::optional<double> median_of(const std::vector<double>& values) {
    std::vector<double> known;
    for (const double v : values) {
        if (std::isfinite(v)) known.push_back(v);
    }
    if (known.empty()) return std::nullopt;
    return stats::median(known);
}

void add_telemetry(const measure::Sampling& sampling, const measure::Protocol& protocol,
                   record::Launch& launch, record::Conditions& conditions) {
    const auto& readings = sampling.telemetry;
    if (readings.empty()) return;
    auto& t = launch.telemetry["t"];
    for (const auto& reading : readings) t.push_back(reading.t);

    const auto keep = [&](const char* name, Quantity quantity) {
        auto values = column(readings, quantity);
        const auto middle = median_of(values);
        if (!values.empty()) launch.telemetry[name] = std::move(values);
        return middle;
    };
    conditions.clock_mhz = keep("clock_mhz", &device::Reading::clock_mhz);
    conditions.power_w = keep("power_w", &device::Reading::power_w);
    conditions.temperature_c = keep("temperature_c", &device::Reading::temperature_c);
    keep("energy_j", &device::Reading::energy_j);
    keep("throttled_count", &device::Reading::throttled_count);

    // A counter's mean power over the sampling says more than single readings do.
    const auto& first = readings.front();
    const auto& last = readings.back();
    if (first.energy_j && last.energy_j && last.t > first.t) {
        const double watts = (*last.energy_j - *first.energy_j) / (last.t - first.t);
        if (!conditions.power_w) conditions.power_w = watts;
        // Where the device idles or clears caches between calls, that power isn't the calls'.
        const bool back_to_back = protocol.burst_samples == 0 && !protocol.clear_between;
        if (!back_to_back) {
            conditions.settings["energy"] =
                protocol.burst_samples > 0 ? "not told for bursts: the device idles between them"
                                           : "not told where caches are cleared between calls";
        } else if (!sampling.seconds.empty()) {
            conditions.energy_per_call_j = watts * stats::median(sampling.seconds);
        }
    }
}

}  // namespace

void describe(const ops::Implementation& implementation, const Bench& bench,
              record::Result& result) {
    if (bench.about_to_run) bench.about_to_run(implementation);
    result.path = implementation.path;
    auto& conditions = result.conditions;
    conditions.library = implementation.library;
    conditions.library_file = implementation.library_file;
    conditions.library_version = implementation.library_version;
    conditions.algorithm = implementation.algorithm;
    conditions.workspace_bytes = implementation.workspace_bytes;
    conditions.threads = implementation.threads;
    if (!implementation.note.empty()) conditions.settings["note"] = implementation.note;
}

void sample_into(measure::Subject& subject, Bench& bench, std::uint64_t footprint_bytes,
                 int operand_sets, record::Result& result) {
    auto& telemetry = bench.device.telemetry();
    record::Launch launch;
    launch.pid = ::getpid();
    launch.started = utc_now();

    measure::Sampler sampler(bench.clock, &telemetry, bench.protocol);
    const auto sampling = sampler.sample(subject);
    if (sampling.seconds.empty()) throw_if_interrupted();
    launch.samples["time"] = {"s", sampling.seconds};

    auto& conditions = result.conditions;
    conditions.protocol = bench.protocol.name;
    conditions.clock_source = telemetry.clock_source();
    conditions.power_source = telemetry.power_source();
    conditions.throttle_reasons = sampling.throttle_reasons;
    conditions.settings.merge(telemetry.settings());
    conditions.calls_per_sample = sampling.calls_per_sample;
    if (const auto gap = subject.gap()) {
        conditions.settings["gap_s"] = exact_number(*gap / sampling.calls_per_sample);
    }
    conditions.stop_reason = stats::name(sampling.stop);
    conditions.settled = sampling.settled;
    if (sampling.settled) conditions.settle_s = sampling.settle_s;
    conditions.footprint_bytes = footprint_bytes;
    conditions.operand_sets = operand_sets;
    conditions.compute_units = bench.device.facts().compute_units;
    add_telemetry(sampling, bench.protocol, launch, conditions);
    if (!sampling.clock_mhz.empty()) {
        // Telemetry may lag by more than a burst lasts.
        if (const auto middle = median_of(sampling.clock_mhz)) {
            conditions.clock_mhz = middle;
            conditions.clock_source = "stamps: cycles over time beside each sample";
        }
        launch.samples["clock_mhz"] = {"MHz", sampling.clock_mhz};
    }
    result.launches.push_back(std::move(launch));
}

}  // namespace assay::probes
