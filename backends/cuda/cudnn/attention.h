// Attention by cuDNN, ready to run.
#pragma once

#include <memory>
#include <string>

#include "ops/attention.h"

namespace assay::cuda {

// On the device in use, whose name and compute capability (10 x major + minor) these are. Throws
// Unsupported naming what cuDNN can't do, or what this version does wrong. Each operand is aligned
// to 16 bytes.
std::unique_ptr<ops::PreparedAttention> prepare_cudnn_attention(const work::Attention& problem,
                                                                work::AttentionPass pass,
                                                                const std::string& device,
                                                                int capability);

// Why it would refuse, as far as that is known before a plan is made; "" where it would not.
std::string cudnn_refusal(const work::Attention& problem, work::AttentionPass pass, int capability);

}  // namespace assay::cuda
