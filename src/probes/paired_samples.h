// Two alternatives measured interleaved, as a result's launches hold them.
#pragma once

#include <string>
#include <vector>

#include "record/result.h"

namespace assay::probes {

// first[i] and second[i] are of one round. Both are empty where there is nothing to compare.
struct PairedSamples {
    std::vector<double> first, second;
};

// Of all launches that hold both names, together. None where a launch has more of one than of the
// other: what rounds they are of can't be told then.
PairedSamples paired_samples(const std::vector<record::Launch>& launches, const std::string& first,
                             const std::string& second);

}  // namespace assay::probes
