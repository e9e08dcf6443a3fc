// Attention of the fake device, computed by the oracle: small problems only.
#pragma once

#include "ops/attention.h"
#include "support/fake_device.h"

namespace assay::device {

class FakeAttention final : public ops::Attention {
  public:
    explicit FakeAttention(const FakeScript& script) : script_(script) {}
    std::vector<std::string> providers() const override;
    std::unique_ptr<ops::PreparedAttention> prepare(const work::Attention& problem,
                                                    work::AttentionPass pass,
                                                    const std::string& provider) override;

  private:
    const FakeScript& script_;
};

}  // namespace assay::device
