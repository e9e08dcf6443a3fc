// How much of a device's memory a run may use: two meanings that engines give the same option.
#pragma once

#include <string>
#include <string_view>

namespace assay::plan {

struct Budget {
    enum class Meaning {
        // capacity x fraction - all else: vLLM gpu_memory_utilization, SGLang mem_fraction_static
        of_total,
        // (capacity - all else) x fraction: TensorRT-LLM
        of_free,
    };
    Meaning meaning = Meaning::of_total;
    double fraction = 0.9;

    // Bytes for what grows with the batch beside `fixed` bytes; below 0: that many are missing.
    double room(double capacity, double fixed) const;
    std::string text() const;  // "of-total:0.9"
};

// "of-total:0.9", "of-free:0.9", or a bare fraction of the total; 0 < fraction <= 1. Throws
// UsageError.
Budget parse_budget(std::string_view text);

}  // namespace assay::plan
