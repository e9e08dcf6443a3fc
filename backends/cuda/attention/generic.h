// Attention by this project's own kernels: every mask, modifier, size of heads and layout, on every
// device of compute capability 8.0 and newer.
#pragma once

#include <memory>
#include <string>

#include "ops/attention.h"

namespace assay::cuda {

// For the device in use. `refusal` is why cuDNN doesn't take the problem, "" where its rules allow
// it. Throws Unsupported for fp64, and for more blocks than a launch takes. Hidden keys and
// values may hold any finite number without a trace in the results.
std::unique_ptr<ops::PreparedAttention> prepare_generic_attention(const work::Attention& problem,
                                                                  work::AttentionPass pass,
                                                                  const std::string& refusal);

}  // namespace assay::cuda
