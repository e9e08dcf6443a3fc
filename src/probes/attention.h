// `assay attention`: scaled dot-product attention.
#pragma once

#include "probes/probe.h"

namespace assay::probes {

class AttentionProbe final : public Probe {
  public:
    std::string name() const override { return "attention"; }
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
