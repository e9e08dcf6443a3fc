// The speed half of a plan. CSV has it in the plan's own rows (plan.h).
#pragma once

#include <string>

#include "base/json.h"
#include "plan/speed.h"

namespace assay::report {

// The winner and where it changes; of each answer the batch asked for, the front and the rates.
std::string speed_text(const plan::Plan& plan, const plan::SpeedPlan& speed);
// "speed" of the section "plan". Seconds, tokens per second; each with its ends.
Json speed_json(const plan::SpeedPlan& speed);
}  // namespace assay::report
