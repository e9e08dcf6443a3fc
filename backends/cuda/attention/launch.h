// Launching one kernel. For .cu files.
#pragma once

#include "cuda/attention/kernels.h"
#include "cuda/attention/lane.h"

namespace assay::cuda {

using AttentionKernel = void (*)(AttentionArguments);

__device__ __forceinline__ Thread this_thread() {
    return {static_cast<int>(threadIdx.x), static_cast<int>(blockIdx.x)};
}

inline cudaError_t ready(AttentionKernel kernel, unsigned shared_bytes) {
    // Loads the code where that waits for the first use.
    cudaFuncAttributes attributes;
    const auto status = cudaFuncGetAttributes(&attributes, kernel);
    if (status != cudaSuccess) return status;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(shared_bytes));
}

inline cudaError_t launch(AttentionKernel kernel, std::int64_t blocks, int threads,
                          unsigned shared_bytes, const AttentionArguments& arguments,
                          cudaStream_t stream) {
    if (blocks == 0) return cudaSuccess;
    if (blocks > kMostBlocks) return cudaErrorInvalidConfiguration;
    kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), shared_bytes, stream>>>(
        arguments);
    return cudaGetLastError();
}

}  // namespace assay::cuda
