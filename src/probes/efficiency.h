// What separates the causes of a rate: work by the cycle, which no clock moves, and by the joule,
// which decides at a power limit.
#pragma once

#include <vector>

#include "record/metric.h"
#include "record/result.h"

namespace assay::probes {

// "flop_per_cycle" (FLOP in a cycle of one compute unit), where the launches hold a clock beside
// each sample, and "flop_per_joule" (GFLOP/J), where the energy of a call is known; `flop` is one
// call's.
std::vector<record::Metric> efficiency_metrics(const record::Result& result, double flop);

}  // namespace assay::probes
