// The answer of `assay cost`: everything that is printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/prices.h"
#include "catalog/scenario.h"
#include "plan/ownership.h"
#include "plan/work_price.h"
#include "record/finding.h"

namespace assay::plan {

// What the devices do.
struct Work {
    TokenRates rates;                                              // of an instance that serves
    std::int64_t instance = 0;                                     // its devices
    std::optional<double> training_tokens, training_tokens_per_s;  // the latter of an instance
    std::optional<double> step_s;  // of training, for checkpoints counted in steps
};

// Whether failures stop one instance alone, not a job on every node.
bool serves_only(const Work& work);

// Devices that are rented: nothing is built.
struct Rent {
    std::int64_t devices = 0;
    double per_device_hour = 0;
};

struct SystemCost {
    std::string name;
    std::optional<Deployment> deployment;  // none where it is rented
    std::optional<Ownership> ownership;
    std::vector<TornadoBar> tornado;
    std::vector<CostFigure> figures;
    std::vector<catalog::Input> inputs;  // that it was computed from
    std::vector<HourPrice> hours;        // owned and useful, or rented
    Work work;
};

// A figure of a scenario's source beside ours.
struct PublishedFigure {
    catalog::ScenarioFigure published;
    double here = 0;
    bool holds = false;
};

struct CostReport {
    std::string scenario;  // in words, "" without one
    std::vector<SystemCost> systems;
    std::vector<CostFigure> comparison;
    std::vector<PublishedFigure> published;
};

// Both add the figures of the work, where there is any. A job is all nodes unless the deployment
// says otherwise, and the instance where it only serves. Throw UsageError, as own() does.
SystemCost cost_of_owned(const Deployment& deployment, const catalog::Prices& prices,
                         const Work& work);
// Nodes of `other` that hold as many devices as the job of `one`: at least 1, and all at most.
std::int64_t same_job_nodes(const Deployment& one, const Deployment& other);
// With the power of a system, if one is named: its rent holds no electricity bill of one's own.
SystemCost cost_of_rented(const std::string& name, const std::optional<catalog::System>& system,
                          const Rent& rent, const catalog::Prices& prices, const Work& work);

// The bill of materials of a network, which needs no price.
std::vector<CostFigure> network_figures(const NetworkCount& count);

// The first system over the second one, by what an hour that earns costs: useful or rented.
std::vector<CostFigure> compare(const SystemCost& one, const SystemCost& other);

// Throws UsageError for a figure that the first system doesn't have.
std::vector<PublishedFigure> beside_published(const std::vector<catalog::ScenarioFigure>& published,
                                              const SystemCost& system);

// What a reader must know: prices that are over a year old or undated on `date` (YYYY-MM-DD),
// assumptions, notes of the network, training that isn't compared, published figures that don't
// hold.
std::vector<record::Finding> cost_findings(const CostReport& report, std::string_view date);

}  // namespace assay::plan
