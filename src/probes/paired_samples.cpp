#include "probes/paired_samples.h"

namespace assay::probes {

PairedSamples paired_samples(const std::vector<record::Launch>& launches, const std::string& first,
                             const std::string& second) {
    PairedSamples pairs;
    for (const auto& launch : launches) {
        const auto one = launch.samples.find(first), other = launch.samples.find(second);
        if (one == launch.samples.end() || other == launch.samples.end()) continue;
        const auto &a = one->second.values, &b = other->second.values;
        if (a.size() != b.size()) return {};
        pairs.first.insert(pairs.first.end(), a.begin(), a.end());
        pairs.second.insert(pairs.second.end(), b.begin(), b.end());
    }
    return pairs;
}

}  // namespace assay::probes
