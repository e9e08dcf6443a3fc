#include "cuda/cuda_device.h"

#include <cstdlib>

#include "cuda/check.h"
#include "cuda/cuda_buffer.h"
#include "cuda/cuda_stream.h"
#include "cuda/facts.h"

namespace assay::cuda {

namespace {

// After it, calls of this thread are for that device.
void use(const record::DeviceFacts& facts) {
    name_device(facts.id + " (" + facts.name + ")");
    ASSAY_CUDA(cudaSetDevice(std::atoi(facts.id.c_str() + facts.id.find(':') + 1)));
}

}  // namespace

CudaDevice::CudaDevice(record::DeviceFacts facts)
    : facts_(std::move(facts)),
      telemetry_(facts_.unique_id, facts_.facts["pci_bus_id"]),
      memory_(facts_.compute_units, capability(facts_)),
      matmul_(facts_.name, capability(facts_)),
      attention_(facts_.name, capability(facts_)),
      stamps_(facts_.compute_units) {
    use(facts_);
    load_kernels();
}

// A kernel's first launch loads its code, which waits for everything that runs; behind a held
// stream that would be for ever. So each is launched once.
void CudaDevice::load_kernels() {
    CudaStream stream;
    stream.hold();
    stream.release();
    stamps_.reserve(1);
    stamps_.enqueue(stream, 0);
    constexpr std::uint64_t kElements = 4;
    CudaBuffer a(kElements * sizeof(double)), b(a.size()), c(a.size());
    for (const auto type : work::all_types()) {
        for (auto* buffer : {&a, &b, &c}) {
            fill_.enqueue(stream, {work::Distribution::zeros, 0, 0}, type, kElements,
                          buffer->data());
        }
    }
    for (const auto op : work::all_memory_ops()) {
        for (const auto& kernel : memory_.kernels(op)) {
            for (const bool in_cache : {false, true}) {
                const auto prepared = memory_.prepare(
                    {op, kElements * sizeof(float), in_cache, device::kAnyNode, 1, kernel});
                prepared->enqueue(stream, {a.data(), b.data(), c.data()});
                stream.synchronize();
            }
        }
    }
}

device::MemoryState CudaDevice::memory() const {
    return memory_state();
}

std::unique_ptr<device::Buffer> CudaDevice::allocate(std::size_t bytes, int node) {
    if (node != device::kAnyNode) throw Unsupported("a GPU's memory has no NUMA nodes");
    return std::make_unique<CudaBuffer>(bytes);
}

std::unique_ptr<device::Stream> CudaDevice::create_stream() {
    return std::make_unique<CudaStream>();
}

std::unique_ptr<device::Event> CudaDevice::create_event() {
    return std::make_unique<CudaEvent>();
}

void CudaDevice::copy_in(void* to, const void* from_host, std::size_t bytes) {
    ASSAY_CUDA(cudaMemcpy(to, from_host, bytes, cudaMemcpyHostToDevice));
    // It may return when pageable memory was only staged, and streams don't wait for the rest.
    ASSAY_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
}

void CudaDevice::copy_out(void* to_host, const void* from, std::size_t bytes) {
    ASSAY_CUDA(cudaMemcpy(to_host, from, bytes, cudaMemcpyDeviceToHost));
}

device::Facility* CudaDevice::facility(std::string_view name) {
    if (name == ops::Fill::kName) return &fill_;
    if (name == ops::Memory::kName) return &memory_;
    if (name == ops::Transfer::kName) return &transfer_;
    if (name == ops::Matmul::kName) return &matmul_;
    if (name == ops::Attention::kName) return &attention_;
    if (name == ops::ClockStamps::kName) return &stamps_;
    return nullptr;
}

}  // namespace assay::cuda
