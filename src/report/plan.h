// A plan as text: tables for people, JSON or CSV for programs.
#pragma once

#include <string>

#include "base/json.h"
#include "plan/planning.h"
#include "plan/speed.h"

namespace assay::report {

// The model; a row an answer; of each the layouts, what each device holds, and why it doesn't fit.
std::string plan_text(const plan::Plan& plan);
// The section "plan" of the document assay/1. Bytes, tokens, no rounding.
Json plan_json(const plan::Plan& plan);
// One row a layout: target, device, devices, nodes, layout, verdict, bytes of each kind, largest
// batch and context; in inference what is predicted of the batch asked for. RFC 4180.
std::string plan_csv(const plan::Plan& plan, const plan::SpeedPlan& speed);

}  // namespace assay::report
