// `assay memory`: copy, read, write, scale, add and triad by size, through the caches to memory;
// transfers between host and device.
#pragma once

#include "probes/probe.h"

namespace assay::probes {

class MemoryProbe final : public Probe {
  public:
    std::string name() const override { return "memory"; }
    std::string summary() const override;
    std::vector<std::string> examples() const override;
    std::vector<OptionSpec> options() const override;
    std::vector<record::Case> expand(const Options& options,
                                     const record::DeviceFacts& facts) const override;
    bool has_own_method(const record::Case& what) const override;
    void run(const record::Case& what, Bench& bench, record::Result& result) const override;
    std::vector<record::Metric> metrics(const record::Result& result) const override;
};

}  // namespace assay::probes
