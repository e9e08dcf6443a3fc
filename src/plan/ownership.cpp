#include "plan/ownership.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "plan/finance.h"

namespace assay::plan {

namespace {

constexpr double kHoursPerYear = 8760;
constexpr double kSecondsPerHour = 3600;
constexpr double kSecondsPerMinute = 60;
constexpr double kMonthsPerYear = 12;
constexpr double kQuotedDevices = 8;  // services and quotes are per 8 devices
constexpr double kStorageDevices = 1024;
constexpr std::int64_t kMostServers = 1'000'000;

// The inputs' values, one of them varied, and which were read.
class Reader {
  public:
    Reader(const catalog::Prices& prices, std::string_view varied, double value)
        : prices_(prices), varied_(varied), value_(value) {}

    double operator()(const std::string& name) {
        const auto& input = prices_.input(name);
        used_.insert(name);
        return name == varied_ ? value_ : input.value;
    }
    std::set<std::string> used() && { return std::move(used_); }

  private:
    const catalog::Prices& prices_;
    std::string_view varied_;
    double value_;
    std::set<std::string> used_;
};

class Owner {
  public:
    Owner(const Deployment& deployment, const catalog::Prices& prices, std::string_view varied,
          double value)
        : what_(deployment), read_(prices, varied, value) {}

    Ownership own() {
        check();
        o_.devices = what_.devices();
        o_.nodes = what_.nodes();
        o_.hours_per_month = read_("hours_per_month");
        buy_system();
        buy_network();
        buy_storage();
        buy_services();
        o_.power = power();
        run();
        finance();
        o_.reliability = reliability();
        o_.useful_share = read_("availability") * (1 - read_("hot_spares")) * read_("used_share") *
                          (1 - o_.reliability.loss.share);
        o_.used = std::move(read_).used();
        return std::move(o_);
    }

  private:
    void check() const {
        if (what_.servers < 1 || what_.servers > kMostServers) {
            throw UsageError(fmt::format("{} servers can't be bought", what_.servers),
                             "the number of servers goes from 1 to 1,000,000");
        }
        if (what_.job_nodes && (*what_.job_nodes < 1 || *what_.job_nodes > what_.nodes())) {
            throw UsageError(fmt::format("a job of {} nodes", *what_.job_nodes),
                             fmt::format("the system has {} nodes", what_.nodes()));
        }
        for (const auto& name : what_.without) {
            if (std::ranges::find(cost_components(), name) == cost_components().end()) {
                throw_unknown("component", name, cost_components());
            }
        }
    }

    bool has(const char* component) const { return !what_.without.contains(component); }
    double quoted_units() const { return static_cast<double>(what_.devices()) / kQuotedDevices; }

    void add(const char* component, const char* what, bool capital, double quantity,
             const std::string& input) {
        if (quantity == 0 || !has(component)) return;
        add_at(component, what, capital, quantity, input, read_(input));
    }
    void add_at(const std::string& component, const std::string& what, bool capital,
                double quantity, const std::string& input, double unit_price) {
        CostLine line;
        line.component = component;
        line.what = what;
        line.capital = capital;
        line.quantity = quantity;
        line.input = input;
        line.unit_price = unit_price;
        line.amount = quantity * unit_price;
        o_.lines.push_back(std::move(line));
    }
    void buy(const char* component, const char* what, std::int64_t quantity,
             const std::string& input) {
        add(component, what, true, static_cast<double>(quantity), input);
    }

    void buy_system() {
        buy("servers", "servers", what_.servers, what_.system.price);
        if (!what_.system.nic.empty()) {
            buy("nics", "NICs", what_.nodes() * what_.system.ports, what_.system.nic);
        }
    }

    void buy_network() {
        if (!what_.network) {
            add("network", "networks, quoted", true, quoted_units(), "network_quoted");
            return;
        }
        const auto& parts = *what_.network;
        o_.network = count_network(parts.tree, what_.nodes(), what_.system.ports);
        const auto& n = *o_.network;
        const auto first = o_.lines.size();
        buy("switches", "leaf switches", n.leaf, parts.switch_part);
        buy("switches", "spine switches", n.spine, parts.switch_part);
        buy("switches", "core switches", n.core, parts.switch_part);
        buy("modules", "modules at switches", n.switch_modules, parts.switch_module);
        buy("modules", "modules at NICs", n.nic_modules, parts.nic_module);
        buy("cables", "copper cables", n.copper_cables, parts.copper_cable);
        buy("cables", "fibre cables", n.fibre_cables, parts.fibre_cable);
        if (!has("other_networks")) return;
        double back_end = 0;
        for (auto i = first; i < o_.lines.size(); ++i) back_end += o_.lines[i].amount;
        const double share = read_("back_end_share");
        if (share == 0) {
            throw UsageError("back_end_share 0: the compute network can't be no part of the whole",
                             "give its share of the cost of all networks, 0.85 by default");
        }
        add_at("other_networks", "storage, front-end and management networks", true, 1,
               "back_end_share", back_end * (1 / share - 1));
    }

    void buy_storage() {
        if (!has("storage")) return;
        if (what_.storage_quoted) {
            add("storage", "storage, quoted", true, quoted_units(), "storage_quoted");
            return;
        }
        const double tb = read_("storage_per_1024_devices") * static_cast<double>(what_.devices()) /
                          kStorageDevices;
        add("storage", "storage, TB", true, tb, "storage_per_tb");
    }

    void buy_services() {
        add("service", "service, 8 devices", true, quoted_units(), "service");
        add("installation", "installation, 8 devices", true, quoted_units(), "installation");
        add("software", "software, 8 devices", true, quoted_units(), "software");
        for (const auto& [name, amount] : what_.extra_capital) {
            add_at(name, name, true, 1, "", amount);
        }
    }

    Power power() {
        Power power;
        if (what_.power_quoted) {
            power.it = quoted_units() * read_("it_power_quoted_kw");
        } else {
            power.servers = static_cast<double>(what_.servers) * read_(what_.system.power);
            if (!what_.system.nic.empty()) {
                power.servers += static_cast<double>(what_.nodes() * what_.system.ports) *
                                 read_(what_.system.nic + "_kw");
            }
            if (o_.network) {
                const auto& parts = *what_.network;
                const auto part = [&](std::int64_t count, const std::string& name) {
                    return count == 0 ? 0 : static_cast<double>(count) * read_(name + "_kw");
                };
                power.network = part(o_.network->switches(), parts.switch_part) +
                                part(o_.network->switch_modules, parts.switch_module) +
                                part(o_.network->nic_modules, parts.nic_module);
            }
            // The source's share holds switches and optics too, which are counted above.
            power.other = std::max(0.0, read_("other_it_share") * power.servers - power.network);
            power.it = power.servers + power.network + power.other;
        }
        power.meter = power.it * read_("load") * read_("pue");
        return power;
    }

    void run() {
        add("electricity", "electricity, kWh", false, o_.power.meter * o_.hours_per_month,
            "electricity");
        add("colocation", "colocation, kW", false, o_.power.it, "colocation");
        add("hands", "hands and support, 8 devices", false, quoted_units(), "hands");
        add("internet", "internet, 8 devices", false, quoted_units(), "internet");
        replace_failed();
        for (const auto& [name, amount] : what_.extra_monthly) {
            add_at(name, name, false, 1, "", amount);
        }
    }

    void replace_failed() {
        if (!has("spares")) return;
        const double life = read_("life");
        const double after_warranty = std::max(0.0, life - read_("warranty")) / life;
        const double replaced = static_cast<double>(what_.devices()) *
                                read_("device_failure_rate") / kMonthsPerYear * after_warranty;
        if (replaced == 0) return;
        add_at("spares", "devices replaced after the warranty", false, replaced, what_.system.price,
               read_(what_.system.price) / what_.system.devices);
    }

    void finance() {
        const Financing financing{read_("wacc"), read_("life"), read_("residual")};
        for (const auto& line : o_.lines)
            (line.capital ? o_.capital : o_.running_monthly) += line.amount;
        o_.capital_monthly = capital_per_month(o_.capital, financing);
        const double monthly_of_capital = o_.capital > 0 ? o_.capital_monthly / o_.capital : 0;
        for (auto& line : o_.lines) {
            line.monthly = line.amount * (line.capital ? monthly_of_capital : 1);
            line.share = line.monthly / o_.monthly();
        }
    }

    Reliability reliability() {
        Reliability r;
        r.job_mtbf_hours =
            job_mtbf_hours(what_.job_nodes.value_or(what_.nodes()), read_("failures"));
        r.failures.mtbf = r.job_mtbf_hours * kSecondsPerHour;
        r.failures.restart = read_("restart") * kSecondsPerMinute;
        r.failures.write = read_("checkpoint_write");
        r.loss = expected_loss(r.failures);
        if (o_.network) {
            const auto optical = o_.network->links * (what_.network->tree.copper ? 0 : 1) +
                                 o_.network->links_between_switches();
            if (optical > 0) {
                r.link_failure_hours =
                    first_failure(read_("link_mttf") * kHoursPerYear, static_cast<double>(optical));
            }
        }
        return r;
    }

    const Deployment& what_;
    Reader read_;
    Ownership o_;
};

}  // namespace

const std::vector<std::string>& cost_components() {
    static const std::vector<std::string> kComponents{
        "servers",    "nics",    "switches", "modules",      "cables",   "other_networks",
        "network",    "storage", "service",  "installation", "software", "electricity",
        "colocation", "hands",   "internet", "spares"};
    return kComponents;
}

Ownership own(const Deployment& deployment, const catalog::Prices& prices) {
    auto ownership = Owner(deployment, prices, "", 0).own();
    if (!(ownership.useful_share > 0)) {
        throw UsageError(
            fmt::format("no device-hour is useful: failures take {:.4g} % of the time, and "
                        "availability, hot_spares and used_share the rest",
                        100 * ownership.reliability.loss.share),
            "make the job smaller with --job-nodes, or look at failures, restart, "
            "checkpoint_write, availability, hot_spares and used_share");
    }
    return ownership;
}

double TornadoBar::effect() const {
    return std::fabs(at_high - at_low);
}

std::vector<TornadoBar> tornado(const Deployment& deployment, const catalog::Prices& prices,
                                const Ownership& ownership) {
    std::vector<TornadoBar> bars;
    for (const auto& name : ownership.used) {
        const auto& input = prices.input(name);
        if (!input.low) continue;
        const auto at = [&](double value) {
            return Owner(deployment, prices, name, value).own().per_useful_hour();
        };
        bars.push_back({name, *input.low, *input.high, at(*input.low), at(*input.high)});
    }
    std::ranges::stable_sort(bars, std::greater<>{}, &TornadoBar::effect);
    return bars;
}

}  // namespace assay::plan
