// `assay selftest`: is the ruler straight? The timer's bias and linearity, the sampler's own cost,
// and whether the checker finds a planted error.
#pragma once

#include "probes/probe.h"

namespace assay::probes {

class SelftestProbe final : public Probe {
  public:
    std::string name() const override { return "selftest"; }
    std::string summary() const override;
    std::vector<std::string> examples() const override;
    std::vector<OptionSpec> options() const override;
    std::vector<record::Case> expand(const Options& options,
                                     const record::DeviceFacts& facts) const override;
    bool has_own_method(const record::Case& /*what*/) const override { return true; }
    void run(const record::Case& what, Bench& bench, record::Result& result) const override;
    std::vector<record::Metric> metrics(const record::Result& result) const override;
};

}  // namespace assay::probes
