// What cuDNN's attention kernels take, decided without them.
#pragma once

#include "cuda/cudnn/entries.h"
#include "work/attention.h"

namespace assay::cuda {

// Throws Unsupported naming what of the problem cuDNN can't do, whatever its version, on a device
// of this compute capability (10 x major + minor).
void require_cudnn_attention(const work::Attention& problem, const CudnnEntries& entries,
                             work::AttentionPass pass, int capability);

}  // namespace assay::cuda
