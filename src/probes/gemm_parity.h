// Do all paths to a product give the same speed? The same operand bytes through each of the
// device's entry points, with and without bias, interleaved round by round.
#pragma once

#include <string_view>
#include <vector>

#include "probes/matmul_problem.h"
#include "probes/probe.h"

namespace assay::probes {

enum class Parity {
    entries,  // every entry point, with and without bias
    layouts,  // nn, nt, tn and tt through the default one: another layout is another product
};

Parity parse_parity(std::string_view word);  // throws UsageError

// Fills one launch: for each path, under its name, the median seconds of each round. Paths are
// named "ENTRY", "ENTRY with bias" or "layout nn"; those that the device can't do stand in the
// setting "left out". Throws Unsupported when it can do none.
void measure_parity(const MatmulCase& matmul, Parity parity, Bench& bench, record::Result& result);

// "throughput of PATH", and "time ratio of PATH": its time over that of the best path, by round.
std::vector<record::Metric> parity_metrics(const record::Result& result);

}  // namespace assay::probes
