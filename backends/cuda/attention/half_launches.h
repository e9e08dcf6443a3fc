// The kernels that each file of a 16-bit type and a pass has.
#pragma once

#include "cuda/attention/launch.h"

namespace assay::cuda {

AttentionKernel bf16_forward(Heads heads);
AttentionKernel bf16_backward(Heads heads);
AttentionKernel fp16_forward(Heads heads);
AttentionKernel fp16_backward(Heads heads);

}  // namespace assay::cuda
