#include "cuda/memory.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "cuda/check.h"
#include "cuda/cuda_buffer.h"
#include "cuda/cuda_stream.h"
#include "cuda/sm90/bulk_memory.h"
#include "gpu/memory_kernels.h"

namespace assay::cuda {
namespace {

ops::Implementation described(const char* kernel) {
    ops::Implementation implementation;
    implementation.library = "assay";
    implementation.library_version = version();
    implementation.algorithm = kernel;
    implementation.path = record::Path::fast;
    return implementation;
}

class Vector : public ops::PreparedMemory {
  public:
    Vector(const ops::MemoryRequest& request, int compute_units)
        : request_(request),
          compute_units_(compute_units),
          implementation_(described("vector")),
          sums_(gpu::memory_sums(request, compute_units) * sizeof(double)) {}

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream, const ops::MemoryOperands& operands) override {
        gpu::launch_memory(request_, operands, static_cast<double*>(sums_.data()), compute_units_,
                           CudaStream::of(stream));
        ASSAY_CUDA_LAUNCHED("memory");
    }

    double sum() override {
        std::vector<double> sums(sums_.size() / sizeof(double));
        ASSAY_CUDA(cudaMemcpy(sums.data(), sums_.data(), sums_.size(), cudaMemcpyDeviceToHost));
        return std::accumulate(sums.begin(), sums.end(), 0.0) / request_.passes;
    }

  private:
    ops::MemoryRequest request_;
    int compute_units_;
    ops::Implementation implementation_;
    CudaBuffer sums_;
};

class Bulk : public ops::PreparedMemory {
  public:
    Bulk(const ops::MemoryRequest& request, int compute_units)
        : request_(request), compute_units_(compute_units), implementation_(described("bulk")) {
        ASSAY_CUDA(sm90::prepare_bulk());
    }

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream, const ops::MemoryOperands& operands) override {
        sm90::launch_bulk(request_, operands, compute_units_, CudaStream::of(stream));
        ASSAY_CUDA_LAUNCHED("bulk memory");
    }

    double sum() override { throw Error("the bulk copy engine sums nothing"); }

  private:
    ops::MemoryRequest request_;
    int compute_units_;
    ops::Implementation implementation_;
};

}  // namespace

std::vector<std::string> CudaMemory::kernels(work::MemoryOp op) const {
    if (capability_ == 90 && sm90::has_bulk(op)) return {"vector", "bulk"};
    return {"vector"};
}

std::unique_ptr<ops::PreparedMemory> CudaMemory::prepare(const ops::MemoryRequest& request) {
    if (request.node != device::kAnyNode) {
        throw Unsupported("a GPU's memory has no NUMA nodes",
                          "--numa is for host memory: host_to_device, device_to_host, both_ways");
    }
    const auto known = kernels(request.op);
    const auto& kernel = request.kernel.empty() ? known.front() : request.kernel;
    if (std::ranges::find(known, kernel) == known.end()) {
        throw Unsupported("no kernel \"" + kernel + "\" for " +
                              std::string(work::name(request.op)) + " on this device",
                          "there is " + join(known, ", "));
    }
    if (kernel == "bulk") return std::make_unique<Bulk>(request, compute_units_);
    return std::make_unique<Vector>(request, compute_units_);
}

}  // namespace assay::cuda
