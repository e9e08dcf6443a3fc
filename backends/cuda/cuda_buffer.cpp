#include "cuda/cuda_buffer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"
#include "cuda/check.h"

namespace assay::cuda {

CudaBuffer::CudaBuffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    const auto status = cudaMalloc(&data_, bytes);
    if (status == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        throw Unsupported(fmt::format("{} are needed, and {} of the device's memory are free",
                                      format_bytes(static_cast<double>(bytes)),
                                      format_bytes(static_cast<double>(memory_state().free))),
                          "choose a smaller size, or end what else uses the device");
    }
    check(status, "cudaMalloc(&data_, bytes)", __FILE__, __LINE__);
}

CudaBuffer::~CudaBuffer() {
    cudaFree(data_);
}

device::MemoryState memory_state() {
    device::MemoryState state;
    ASSAY_CUDA(cudaMemGetInfo(&state.free, &state.total));
    return state;
}

}  // namespace assay::cuda
