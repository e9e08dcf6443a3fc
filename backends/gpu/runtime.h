// The names that CUDA and HIP give to the same things, so that a kernel is written once. Nothing in
// this folder assumes a warp's width, a lane mask's size or an instruction set: tools/check_gpu.sh.
#pragma once

#if defined(__HIP_PLATFORM_AMD__)
#include <hip/hip_runtime.h>
#define ASSAY_GPU(name) hip##name
#else
#include <cuda_runtime.h>
#define ASSAY_GPU(name) cuda##name
#endif

namespace assay::gpu {

using Stream = ASSAY_GPU(Stream_t);

#if defined(__CUDACC__) || defined(__HIPCC__)
// Of data that is used once: it needn't stay in the caches.
template <class Value>
__device__ Value load_once(const Value* from) {
#if defined(__HIP_PLATFORM_AMD__)
    return *from;
#else
    return __ldcs(from);
#endif
}

template <class Value>
__device__ void store_once(Value* to, Value value) {
#if defined(__HIP_PLATFORM_AMD__)
    *to = value;
#else
    __stcs(to, value);
#endif
}
#endif

}  // namespace assay::gpu
