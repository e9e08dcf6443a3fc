// Attention by cuDNN where it can, else by this project's own kernels.
#pragma once

#include <string>

#include "ops/attention.h"

namespace assay::cuda {

class CudaAttention : public ops::Attention {
  public:
    // `capability` is 10 x major + minor.
    CudaAttention(std::string device, int capability)
        : device_(std::move(device)), capability_(capability) {}

    std::vector<std::string> providers() const override;
    std::unique_ptr<ops::PreparedAttention> prepare(const work::Attention& problem,
                                                    work::AttentionPass pass,
                                                    const std::string& provider) override;

  private:
    std::string device_;
    int capability_;
};

}  // namespace assay::cuda
