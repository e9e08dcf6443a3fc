// What a system costs, as text.
#pragma once

#include <string>

#include "base/json.h"
#include "plan/cost_report.h"

namespace assay::report {

// For each system: what it is, its figures by section, its parts, what matters most; then the
// comparison and what others published.
std::string cost_table(const plan::CostReport& report);
// The section `cost` of the document: systems with figures, parts, tornado and inputs; comparison;
// published.
Json cost_json(const plan::CostReport& report);
// One row a figure, part, bar and input: system, section, name, value, unit, low, high, definition.
// A part's value is its $/month; a bar's low and high are $/useful device-hour.
std::string cost_csv(const plan::CostReport& report);

// All that can be named on the command line: systems, networks, inputs with value and source.
std::string prices_table(const catalog::Prices& prices);
Json prices_json(const catalog::Prices& prices);
std::string prices_csv(const catalog::Prices& prices);

// The bill of materials of a network alone.
std::string network_table(const std::vector<plan::CostFigure>& figures);

}  // namespace assay::report
