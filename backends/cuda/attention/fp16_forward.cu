#include "cuda/attention/half_kernels.h"
#include "cuda/attention/half_launches.h"

namespace assay::cuda {

AttentionKernel fp16_forward(Heads heads) {
    AttentionKernel kernel = nullptr;
    with_forward_kernel<work::Type::fp16>(heads, [&](AttentionKernel found) { kernel = found; });
    return kernel;
}

}  // namespace assay::cuda
