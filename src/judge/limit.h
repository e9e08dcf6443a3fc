// What held a clock down, from the device's words and its power.
#pragma once

#include <string>

#include "record/conditions.h"

namespace assay::judge {

enum class Limit { none, power, thermal, power_and_thermal, other };

// By throttle_reasons: those that speak of power, those that speak of heat, others. Without any, a
// power of 0.97 of settings["power_limit_w"] or more is power too.
Limit limit_of(const record::Conditions& conditions);

std::string name(Limit limit);  // "power", "power and thermal"; "" for none

}  // namespace assay::judge
