#include "cuda/memory.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "base/version.h"
#include "cuda/check.h"
#include "cuda/cuda_buffer.h"
#include "cuda/cuda_stream.h"
#include "cuda/runtime_version.h"
#include "cuda/sm90/bulk_memory.h"
#include "gpu/memory_kernels.h"

namespace assay::cuda {
namespace {

constexpr const char* kVector = "vector";

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
          implementation_(described(kVector)),
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
    explicit Bulk(const ops::MemoryRequest& request)
        : request_(request), implementation_(described("bulk")) {}

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream, const ops::MemoryOperands& operands) override {
        sm90::launch_bulk(request_, operands, CudaStream::of(stream));
        ASSAY_CUDA_LAUNCHED("bulk memory");
    }

    double sum() override { throw Error("the bulk copy engine sums nothing"); }

  private:
    ops::MemoryRequest request_;
    ops::Implementation implementation_;
};

class RuntimeCopy : public ops::PreparedMemory {
  public:
    explicit RuntimeCopy(const ops::MemoryRequest& request) : request_(request) {
        implementation_.library = "CUDA runtime";
        implementation_.library_version = runtime_version();
        implementation_.algorithm = "cudaMemcpyAsync";
        implementation_.path = record::Path::fast;
    }

    const ops::Implementation& implementation() const override { return implementation_; }

    void enqueue(device::Stream& stream, const ops::MemoryOperands& operands) override {
        ASSAY_CUDA(cudaMemcpyAsync(operands.c, operands.a, request_.bytes_per_array,
                                   cudaMemcpyDeviceToDevice, CudaStream::of(stream)));
    }

    double sum() override { throw Error("a copy sums nothing"); }

  private:
    ops::MemoryRequest request_;
    ops::Implementation implementation_;
};

}  // namespace

// The runtime's own copy is the fastest for large arrays (2 % before ours on an H200), and slow to
// start for small ones.
std::vector<std::string> CudaMemory::kernels(work::MemoryOp op) const {
    std::vector<std::string> names{kVector};
    if (op == work::MemoryOp::copy) names.insert(names.begin(), "runtime");
    if (capability_ == 90 && sm90::has_bulk(op)) names.emplace_back("bulk");
    return names;
}

std::unique_ptr<ops::PreparedMemory> CudaMemory::prepare(const ops::MemoryRequest& request) {
    if (request.node != device::kAnyNode) {
        throw Unsupported("a GPU's memory has no NUMA nodes",
                          "--numa is for host memory: host_to_device, device_to_host, both_ways");
    }
    const auto known = kernels(request.op);
    auto kernel = request.kernel;
    if (kernel.empty()) kernel = request.passes == 1 ? known.front() : kVector;
    if (std::ranges::find(known, kernel) == known.end()) {
        throw Unsupported("no kernel \"" + kernel + "\" for " +
                              std::string(work::name(request.op)) + " on this device",
                          "there is " + join(known, ", "));
    }
    // A pass of these is a launch, and a held stream takes no thousand of them.
    if (request.passes > 1 && kernel != kVector) {
        throw Unsupported(kernel + " goes over an array once a call, and " +
                              format_bytes(static_cast<double>(request.bytes_per_array)) +
                              " take too little time for that",
                          "give --size 256M or more, or --kernel vector");
    }
    if (kernel == "runtime") return std::make_unique<RuntimeCopy>(request);
    if (kernel == "bulk") return std::make_unique<Bulk>(request);
    return std::make_unique<Vector>(request, compute_units_);
}

}  // namespace assay::cuda
