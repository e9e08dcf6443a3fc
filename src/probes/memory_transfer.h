// Copies between host and device, and inside the device, by the vendor's runtime: the transfers
// among the ops of `assay memory`.
#pragma once

#include <vector>

#include "probes/probe.h"

namespace assay::probes {

// Fills one launch of a case whose op is a transfer: size, host_memory where the host has an end,
// nodes "local" or the number of the host memory's NUMA node. Throws Unsupported.
void measure_transfer(const record::Case& what, Bench& bench, record::Result& result);

std::vector<record::Metric> transfer_metrics(const record::Result& result);

}  // namespace assay::probes
