// The same product timed as well-known tools time it, beside the honest number: what a method
// alone adds or takes away.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/matmul_problem.h"
#include "probes/probe.h"

namespace assay::probes {

enum class Reduction { best, mean };

struct TimingMethod {
    std::string_view name;
    std::string_view source;  // tool, version and settings
    int warmup_calls = 0;     // or seconds, when 0
    double warmup_s = 0;
    int calls = 0;  // timed calls, or seconds, when 0
    double timed_s = 0;
    bool clear_caches =
        false;  // 256 MiB written before each call; else one set of operands stays hot
    work::Distribution inputs = work::Distribution::normal;
    Reduction reduction = Reduction::mean;
};

std::span<const TimingMethod> timing_methods();

// Comma list of names. Throws UsageError.
std::vector<const TimingMethod*> parse_methods(std::string_view list);

// Samples the honest number first (sustained, cold), then alternates windows
// of it with each method. Launch samples: "time" (honest), "window", and each method's name, one
// value a round. Throws Unsupported when the fewest rounds would take over two minutes.
void measure_methods(const MatmulCase& matmul, const std::vector<const TimingMethod*>& methods,
                     Bench& bench, record::Result& result);

std::vector<record::Metric> method_metrics(const record::Result& result);

}  // namespace assay::probes
