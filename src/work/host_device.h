// Marks functions that CUDA and HIP kernels call too.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define ASSAY_HOST_DEVICE __host__ __device__
#else
#define ASSAY_HOST_DEVICE
#endif
