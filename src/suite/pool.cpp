#include "suite/pool.h"

#include <algorithm>
#include <optional>

#include "probes/probe.h"

namespace assay::suite {

namespace {

// The mean over launches, of those where it could be read.
void average(std::optional<double>& all, const std::optional<double>& one, std::size_t launches) {
    if (!one) return;
    const auto n = static_cast<double>(launches);
    all = all ? (*all * n + *one) / (n + 1) : *one;
}

// `launches` are those that `all` stands for so far.
void add_conditions(record::Conditions& all, const record::Conditions& one, std::size_t launches) {
    average(all.clock_mhz, one.clock_mhz, launches);
    average(all.power_w, one.power_w, launches);
    average(all.energy_per_call_j, one.energy_per_call_j, launches);
    average(all.temperature_c, one.temperature_c, launches);
    if (one.algorithm != all.algorithm || one.library_file != all.library_file) {
        all.settings["other launches ran"] = one.library + " " + one.algorithm;
    }
    for (const auto& reason : one.throttle_reasons) {
        if (std::ranges::find(all.throttle_reasons, reason) == all.throttle_reasons.end()) {
            all.throttle_reasons.push_back(reason);
        }
    }
    // What only a later launch has to say, like an algorithm that its search found wrong.
    all.settings.insert(one.settings.begin(), one.settings.end());
    // The worst of them stands for all: one launch cut short or not settled is worth knowing.
    if (!one.stop_reason.empty() && one.stop_reason != "precise") all.stop_reason = one.stop_reason;
    if (one.settled == false) all.settled = false;
}

}  // namespace

void pool(record::Result& result, const record::Result& more) {
    if (result.launches.empty()) {
        result.path = more.path;
        result.conditions = more.conditions;
        result.series = more.series;
    } else {
        add_conditions(result.conditions, more.conditions, result.launches.size());
    }
    for (auto launch : more.launches) {
        launch.index = static_cast<int>(result.launches.size());
        result.launches.push_back(std::move(launch));
    }
    // A check holds when it held in every launch.
    for (const auto& check : more.checks) {
        const auto same = std::ranges::find(result.checks, check.name, &record::Check::name);
        if (same == result.checks.end()) {
            result.checks.push_back(check);
        } else if (same->passed && !check.passed) {
            *same = check;
        }
    }
    if (more.status != record::Status::ok && result.status == record::Status::ok) {
        result.status = more.status;
        result.reason = more.reason;
    }
    result.metrics.clear();
    if (result.status == record::Status::ok) {
        result.metrics = probes::find_probe(result.probe).metrics(result);
    }
}

}  // namespace assay::suite
