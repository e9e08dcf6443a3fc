#include "cuda/fill.h"

#include "cuda/check.h"
#include "cuda/cuda_stream.h"
#include "gpu/fill.h"

namespace assay::cuda {

void CudaFill::enqueue(device::Stream& stream, const work::FillSpec& spec, work::Type type,
                       std::uint64_t count, void* out) {
    gpu::launch_fill(spec, type, count, out, CudaStream::of(stream));
    ASSAY_CUDA_LAUNCHED("fill");
}

}  // namespace assay::cuda
