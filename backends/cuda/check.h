// Every call of the CUDA runtime is checked.
#pragma once

#include <string>

#include <cuda_runtime.h>

namespace assay::cuda {

// Throws for a call that failed, naming call, file, line and the device in use: Unsupported for
// memory that doesn't fit, DeviceLost for an error after which the process can't use the device
// (illegal access, a failed launch, an uncorrectable error of memory or link, a device that
// disappeared), Error for the rest.
void check(cudaError_t status, const char* call, const char* file, int line);

// For kernels: a launch returns nothing and leaves its error behind.
void check_launch(const char* kernel, const char* file, int line);

// The device that errors name from now on: "cuda:0 (NVIDIA H200)".
void name_device(std::string name);

// CUDA's number of the device that calls of this thread are for.
int device_in_use();

// True for errors that stay with the process.
bool is_sticky(cudaError_t status);

}  // namespace assay::cuda

#define ASSAY_CUDA(call) ::assay::cuda::check((call), #call, __FILE__, __LINE__)
#define ASSAY_CUDA_LAUNCHED(kernel) ::assay::cuda::check_launch(kernel, __FILE__, __LINE__)
