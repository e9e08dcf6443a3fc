#include "plan/cost_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "plan/finance.h"

namespace assay::plan {

namespace {

constexpr double kWatts = 1000;

void append(std::vector<CostFigure>& figures, std::vector<CostFigure> more) {
    for (auto& figure : more) figures.push_back(std::move(figure));
}

std::vector<CostFigure> price_figures(const Ownership& o) {
    const auto devices = static_cast<double>(o.devices);
    const double owned_hours = devices * o.hours_per_month;
    const auto hours = fmt::format("{} h a month", exact_number(o.hours_per_month));
    std::vector<CostFigure> figures{
        {"cost", "capital", o.capital, "$", "all that is bought"},
        {"cost", "capital per device", o.capital / devices, "$", "capital / devices"},
        {"cost", "capital per month", o.capital_monthly, "$/month",
         "ordinary annuity of capital less the residual's present value: monthly, wacc/12, "
         "12 x life payments"},
        {"cost", "running per month", o.running_monthly, "$/month", "all that is paid each month"},
        {"cost", "total per month", o.monthly(), "$/month", "capital + running per month"},
        {"cost", "$/device-hour, owned", o.per_device_hour(), "$/h",
         "total per month / (devices x " + hours + ")"},
        {"cost", "of it capital", o.capital_monthly / owned_hours, "$/h",
         "capital per month / (devices x " + hours + ")"},
        {"cost", "of it running", o.running_monthly / owned_hours, "$/h",
         "running per month / (devices x " + hours + ")"}};
    if (o.hours_per_month != kHoursPerThirtyDays) {
        figures.push_back({"cost", "$/device-hour, owned, month of 30 days",
                           o.monthly() / (devices * kHoursPerThirtyDays), "$/h",
                           "total per month / (devices x 720 h): the basis of calculators that "
                           "bill 30 days"});
    }
    figures.push_back(
        {"cost", "useful share", o.useful_share, "share",
         "availability x (1 - hot_spares) x used_share x (1 - time lost to failures)"});
    figures.push_back({"cost", "$/device-hour, useful", o.per_useful_hour(), "$/h",
                       "$/device-hour, owned / useful share"});
    return figures;
}

std::vector<CostFigure> power_figures(const Ownership& o) {
    const auto& p = o.power;
    std::vector<CostFigure> figures;
    const auto add = [&](const char* name, double value, const char* unit, const char* what) {
        if (value > 0) figures.push_back({"power", name, value, unit, what});
    };
    add("servers", p.servers, "kW", "servers or racks, at most");
    add("network", p.network, "kW", "switches and modules of the compute network, at most");
    add("storage and CPU nodes", p.other, "kW",
        "other_it_share of the servers' power less the network's");
    add("IT", p.it, "kW", "at most: what colocation is paid for");
    add("at the meter", p.meter, "kW", "IT x load x PUE: what electricity is paid for");
    add("at the meter per device", p.meter / static_cast<double>(o.devices), "kW",
        "at the meter / devices");
    return figures;
}

std::vector<CostFigure> failure_figures(const Ownership& o, std::int64_t job_nodes,
                                        const std::optional<double>& step_s) {
    const auto& r = o.reliability;
    const auto nodes = fmt::format("{} node{}", job_nodes, job_nodes == 1 ? "" : "s");
    std::vector<CostFigure> figures{
        {"failures", "mean time between failures", r.job_mtbf_hours, "h",
         "of a job on " + nodes + ": 24000 / (nodes x failures per 1000 node-days)"},
        {"failures", "checkpoint interval", r.loss.interval, "s",
         r.loss.exact ? "Daly 2006, since the first order loses over 20 %"
                      : "Young 1974: sqrt(2 x checkpoint_write x mean time between failures)"},
        {"failures", "most available interval", availability_interval(r.failures), "s",
         "write + sqrt(2 (mean time between failures + restart) write + write^2)"},
        {"failures", "time lost", r.loss.share, "share",
         r.loss.exact ? "checkpoints, lost work and restarts by Daly's exact time"
                      : "write/interval + (interval/2 + restart)/mean time between failures"}};
    if (step_s) {
        figures.push_back({"failures", "steps between checkpoints",
                           steps_between_checkpoints(r.failures, *step_s), "steps",
                           "sqrt(2 (mean time between failures + restart) write) / step"});
    }
    if (r.link_failure_hours > 0) {
        figures.push_back({"failures", "an optical link fails every", r.link_failure_hours, "h",
                           "link_mttf / optical links of the compute network"});
    }
    return figures;
}

void add_work(SystemCost& system, double loss, const std::optional<double>& watts_per_device) {
    const auto& work = system.work;
    const bool trains = work.training_tokens && work.training_tokens_per_s;
    append(system.figures, token_figures(work.rates, work.instance, system.hours));
    if (trains) {
        append(system.figures, training_figures({*work.training_tokens, *work.training_tokens_per_s,
                                                 work.instance, loss},
                                                system.hours));
    }
    if (!watts_per_device) return;
    const std::string which = "average watts at the meter";
    append(system.figures, energy_figures(work.rates, work.instance, *watts_per_device, which));
    if (trains) {
        system.figures.push_back(
            {"energy", "J/token trained",
             *watts_per_device * static_cast<double>(work.instance) / *work.training_tokens_per_s,
             "J/token", which + " / tokens/s of training"});
    }
}

void keep_inputs(SystemCost& system, const std::set<std::string>& names,
                 const catalog::Prices& prices) {
    for (const auto& name : names) system.inputs.push_back(prices.input(name));
}

std::string dated(const catalog::Input& input) {
    return fmt::format("{} ({})", input.name, input.as_of.empty() ? "undated" : input.as_of);
}

record::Finding old_prices(const std::vector<std::string>& old) {
    return {"old-price", record::Severity::warning,
            fmt::format("{} input{} over 12 months old or undated", old.size(),
                        old.size() == 1 ? " is" : "s are"),
            old, "put today's in with --set, or in a copy of the price file with --prices"};
}

record::Finding assumptions(const std::vector<std::string>& assumed) {
    return {"assumption", record::Severity::note,
            fmt::format("no source was found for {} input{}", assumed.size(),
                        assumed.size() == 1 ? "" : "s"),
            assumed, "put your own numbers in with --set or --prices, what matters most first"};
}

record::Finding training_not_compared(const std::string& name) {
    return {"comparison",
            record::Severity::note,
            fmt::format("training isn't compared: how fast {} trains isn't known", name),
            {},
            "give it with --compare-training-tokens-per-s"};
}

}  // namespace

bool serves_only(const Work& work) {
    return (work.rates.total || work.rates.output || work.rates.input) && !work.training_tokens;
}

std::int64_t same_job_nodes(const Deployment& one, const Deployment& other) {
    // In one fraction, so that a job of the same system keeps its nodes.
    const std::int64_t over = std::int64_t{one.system.nodes} * other.system.devices;
    const std::int64_t nodes =
        one.job_nodes.value_or(one.nodes()) * std::int64_t{one.system.devices} * other.system.nodes;
    return std::min((nodes + over - 1) / over, other.nodes());
}

std::vector<CostFigure> network_figures(const NetworkCount& n) {
    std::vector<CostFigure> figures;
    const auto add = [&](const char* name, std::int64_t value, const char* unit, const char* what) {
        if (value > 0) {
            figures.push_back({"network", name, static_cast<double>(value), unit, what});
        }
    };
    add("layers", n.layers, "layers", "of switches");
    add("planes", n.planes, "planes", "networks joined only through the nodes");
    add("links to nodes", n.links, "links", "one at each switch port below a leaf that is used");
    add("links that so many layers hold", n.most_links, "links", "k, k^2/2, k^3/4 a plane");
    add("leaf switches", n.leaf, "switches", "of all planes");
    add("spine switches", n.spine, "switches", "of all planes");
    add("core switches", n.core, "switches", "of all planes");
    add("node-leaf cables", n.node_leaf_cables, "cables", "of the nodes that there are");
    add("management cables", n.management_cables, "cables", "from leaves to the network's manager");
    add("leaf-spine cables", n.leaf_spine_cables, "cables", "of whole leaves");
    add("spine-core cables", n.spine_core_cables, "cables", "of whole leaves");
    add("copper cables", n.copper_cables, "cables", "direct-attach, without modules");
    add("fibre cables", n.fibre_cables, "cables", "with a module at each end");
    add("modules at switches", n.switch_modules, "modules", "transceivers");
    add("modules at NICs", n.nic_modules, "modules", "transceivers");
    return figures;
}

SystemCost cost_of_owned(const Deployment& deployment, const catalog::Prices& prices,
                         const Work& work) {
    SystemCost system;
    system.name = deployment.system_name;
    system.work = work;
    auto built = deployment;
    if (!built.job_nodes && serves_only(work)) {
        const auto nodes =
            (work.instance * built.system.nodes + built.system.devices - 1) / built.system.devices;
        built.job_nodes = std::min(nodes, built.nodes());
    }
    auto ownership = own(built, prices);
    system.hours = {{"owned", ownership.per_device_hour()},
                    {"useful", ownership.per_useful_hour()}};
    system.figures = price_figures(ownership);
    if (ownership.network) append(system.figures, network_figures(*ownership.network));
    append(system.figures, power_figures(ownership));
    append(system.figures,
           failure_figures(ownership, built.job_nodes.value_or(built.nodes()), work.step_s));
    add_work(system, ownership.reliability.loss.share,
             ownership.power.meter * kWatts / static_cast<double>(ownership.devices));
    system.tornado = tornado(built, prices, ownership);
    keep_inputs(system, ownership.used, prices);
    system.deployment = std::move(built);
    system.ownership = std::move(ownership);
    return system;
}

SystemCost cost_of_rented(const std::string& name, const std::optional<catalog::System>& rented,
                          const Rent& rent, const catalog::Prices& prices, const Work& work) {
    SystemCost system;
    system.name = name;
    system.work = work;
    system.hours = {{"rented", rent.per_device_hour}};
    std::set<std::string> used{"hours_per_month"};
    const double hours = prices.input("hours_per_month").value;
    system.figures = {{"cost", "$/device-hour, rented", rent.per_device_hour, "$/h", "as given"},
                      {"cost", "total per month",
                       rent.per_device_hour * static_cast<double>(rent.devices) * hours, "$/month",
                       fmt::format("{} devices x {} h a month x $/device-hour", rent.devices,
                                   exact_number(hours))}};
    std::optional<double> watts;
    if (rented) {
        const auto value = [&](const std::string& input) {
            used.insert(input);
            return prices.input(input).value;
        };
        watts = value(rented->power) * value("load") * value("pue") * kWatts / rented->devices;
        system.figures.push_back({"power", "at the meter per device", *watts / kWatts, "kW",
                                  "server x load x PUE / devices, without network and storage"});
    }
    add_work(system, 0, watts);
    keep_inputs(system, used, prices);
    return system;
}

std::vector<CostFigure> compare(const SystemCost& one, const SystemCost& other) {
    const auto contender = [](const SystemCost& system) {
        return Contender{system.name, system.work.rates, system.work.training_tokens_per_s,
                         system.work.instance, system.hours.back()};
    };
    return comparison_figures(contender(one), contender(other));
}

std::vector<PublishedFigure> beside_published(const std::vector<catalog::ScenarioFigure>& published,
                                              const SystemCost& system) {
    std::vector<PublishedFigure> beside;
    for (const auto& figure : published) {
        const auto found = std::ranges::find(system.figures, figure.figure, &CostFigure::name);
        if (found == system.figures.end()) {
            std::vector<std::string> known;
            for (const auto& f : system.figures) known.push_back(f.name);
            throw_unknown("figure", figure.figure, known);
        }
        beside.push_back(
            {figure, found->value, std::fabs(found->value - figure.value) <= figure.within});
    }
    return beside;
}

std::vector<record::Finding> cost_findings(const CostReport& report, std::string_view date) {
    std::vector<record::Finding> findings;
    std::vector<std::string> old, assumed;
    const auto once = [](std::vector<std::string>& words, std::string word) {
        if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
    };
    for (const auto& system : report.systems) {
        for (const auto& input : system.inputs) {
            if (input.given) continue;
            if (input.assumption) {
                once(assumed, input.name);
            } else if (catalog::over_a_year_old(input.as_of, date)) {
                once(old, dated(input));
            }
        }
        if (!system.ownership || !system.ownership->network) continue;
        for (const auto& note : system.ownership->network->notes) {
            findings.push_back(
                {"network", record::Severity::note, system.name + ": " + note, {}, ""});
        }
    }
    if (report.systems.size() == 2 && report.systems[0].work.training_tokens &&
        !report.systems[1].work.training_tokens) {
        findings.push_back(training_not_compared(report.systems[1].name));
    }
    if (!old.empty()) findings.push_back(old_prices(old));
    if (!assumed.empty()) findings.push_back(assumptions(assumed));
    for (const auto& [published, here, holds] : report.published) {
        if (holds) continue;
        findings.push_back({"published",
                            record::Severity::error,
                            fmt::format("{} is {}, published {} (within {})", published.figure,
                                        format_number(here, 6), exact_number(published.value),
                                        exact_number(published.within)),
                            {published.source},
                            "look at what the scenario leaves out or sets otherwise"});
    }
    return findings;
}

}  // namespace assay::plan
