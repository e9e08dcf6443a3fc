// A device's ways to do one memory operation, all interleaved round by round: one of them is never
// called faster for having run later.
#pragma once

#include <vector>

#include "probes/probe.h"

namespace assay::probes {

// Fills one launch, whose samples "vector" (a kernel's name) are the median seconds of each round.
// Throws Unsupported where the device has a single way.
void measure_kernels(const record::Case& what, Bench& bench, record::Result& result);

// "bandwidth of KERNEL", and "gain of KERNEL" for all but the default: the default's time over its
// own, by round.
std::vector<record::Metric> kernel_metrics(const record::Result& result);

}  // namespace assay::probes
