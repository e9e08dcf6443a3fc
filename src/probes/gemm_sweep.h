// A dimension swept over a range, all sizes interleaved round by round, to find the cliffs: sizes
// that take longer than a larger one, so that padding to it wins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/matmul_problem.h"
#include "probes/probe.h"

namespace assay::probes {

struct Sweep {
    char dimension = 'n';  // 'm', 'n' or 'k'
    std::vector<std::int64_t> sizes;

    // The problem at one size.
    work::Matmul at(work::Matmul problem, std::int64_t size) const;
};

// "n=8064..8320+64". Throws UsageError for another dimension, one size, or sizes that don't rise.
Sweep parse_sweep(std::string_view text);

// Fills one launch, whose samples "n=8064" are the median seconds of each round, the series "time"
// and "padding gain" (x: the size; y: its time over that of the larger size to pad to, where the
// interval over at least six rounds lies wholly above 1 + the verdict's margin) and "pad to" (that
// larger size).
void measure_sweep(const MatmulCase& matmul, const Sweep& sweep, Bench& bench,
                   record::Result& result);

std::vector<record::Metric> sweep_metrics(const record::Result& result);

}  // namespace assay::probes
