#include "cuda/attention/half_kernels.h"
#include "cuda/attention/half_launches.h"

namespace assay::cuda {

AttentionKernel bf16_backward(Heads heads) {
    AttentionKernel kernel = nullptr;
    with_backward_kernel<work::Type::bf16>(heads, [&](AttentionKernel found) { kernel = found; });
    return kernel;
}

}  // namespace assay::cuda
