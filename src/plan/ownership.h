// What it costs to own a system: bottom up from the parts, each month and each device-hour.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catalog/prices.h"
#include "plan/network.h"
#include "plan/reliability.h"

namespace assay::plan {

using Amounts = std::vector<std::pair<std::string, double>>;

// What is built.
struct Deployment {
    std::string system_name;
    catalog::System system;
    std::int64_t servers = 1;  // or racks: as many as are bought
    // None: the price per 8 devices stands in input "network_quoted".
    std::optional<catalog::Network> network;
    std::string network_name;
    bool storage_quoted = false;            // input "storage_quoted", for 8 devices
    bool power_quoted = false;              // input "it_power_quoted_kw", all IT for 8 devices
    std::optional<std::int64_t> job_nodes;  // of the job that failures stop; none: all nodes
    std::set<std::string> without;          // components that aren't paid for
    Amounts extra_capital, extra_monthly;   // the user's own, $ and $/month

    std::int64_t devices() const { return servers * system.devices; }
    std::int64_t nodes() const { return servers * system.nodes; }
};

// Something bought or paid for each month.
struct CostLine {
    std::string component;  // "servers", "switches", "electricity", ...
    std::string what;       // "leaf switches"
    bool capital = false;   // bought, else paid for each month
    double quantity = 0;
    std::string input;  // that gives the price of one; "" for the user's own
    double unit_price = 0;
    double amount = 0;   // $ once, or $/month
    double monthly = 0;  // $/month, the capital's share of the annuity
    double share = 0;    // of all that is paid each month
};

// kW; `it` at most, `meter` on average with the site's own.
struct Power {
    double servers = 0, network = 0, other = 0, it = 0, meter = 0;
};

struct Reliability {
    double job_mtbf_hours = 0;
    Failures failures;
    Loss loss;
    double link_failure_hours = 0;  // mean time until one of the optical links fails; 0 without any
};

struct Ownership {
    std::int64_t devices = 0, nodes = 0;
    std::optional<NetworkCount> network;
    std::vector<CostLine> lines;
    double capital = 0;          // $
    double capital_monthly = 0;  // $/month
    double running_monthly = 0;
    double hours_per_month = 0;
    Power power;
    Reliability reliability;
    double useful_share = 0;     // of owned device-hours: availability, spares, use, failures
    std::set<std::string> used;  // inputs that it was computed from

    double monthly() const { return capital_monthly + running_monthly; }
    double per_device_hour() const {
        return monthly() / (static_cast<double>(devices) * hours_per_month);
    }
    double per_useful_hour() const { return per_device_hour() / useful_share; }
};

// Names that Deployment::without may hold.
const std::vector<std::string>& cost_components();

//   capital      sum of the parts; capital_monthly by Financing (finance.h)
//   electricity  IT x load x PUE x hours x $/kWh: on average power
//   colocation   IT x $/kW-month: on what is provided for, without PUE
//   IT           servers + network parts + what other_it_share leaves for storage and CPU nodes
//   other_networks  back-end cost x (1/back_end_share - 1)
//   spares       devices x rate/12 x price of a device x share of the life after the warranty
//   useful_share availability x (1 - hot_spares) x used_share x (1 - loss)
// Throws UsageError: a price that isn't there, a network that can't be, an unknown component,
// nothing useful left.
Ownership own(const Deployment& deployment, const catalog::Prices& prices);

// How far one input moves the price of a useful device-hour.
struct TornadoBar {
    std::string input;
    double low = 0, high = 0;        // of the input
    double at_low = 0, at_high = 0;  // $/useful device-hour

    double effect() const;  // how far apart those are
};
// Every input that was used and has a range, the largest effect first.
std::vector<TornadoBar> tornado(const Deployment& deployment, const catalog::Prices& prices,
                                const Ownership& ownership);

}  // namespace assay::plan
