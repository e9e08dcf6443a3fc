#include "cpu/cpu_device.h"

#include <cstring>

#include "cpu/cpu_buffer.h"
#include "cpu/cpu_stream.h"
#include "cpu/facts.h"
#include "cpu/memory_limit.h"

namespace assay::cpu {

CpuDevice::CpuDevice()
    : cores_(usable_cores(topology_)),
      facts_(read_facts(topology_, cores_)),
      telemetry_(cores_),
      team_(cores_) {}

device::MemoryState CpuDevice::memory() const {
    return memory_state();
}

std::unique_ptr<device::Buffer> CpuDevice::allocate(std::size_t bytes, int node) {
    return std::make_unique<CpuBuffer>(bytes, node, topology_, team_);
}

std::unique_ptr<device::Stream> CpuDevice::create_stream() {
    return std::make_unique<CpuStream>(team_);
}

std::unique_ptr<device::Event> CpuDevice::create_event() {
    return std::make_unique<CpuEvent>();
}

void CpuDevice::copy_in(void* to, const void* from_host, std::size_t bytes) {
    std::memcpy(to, from_host, bytes);
}

void CpuDevice::copy_out(void* to_host, const void* from, std::size_t bytes) {
    std::memcpy(to_host, from, bytes);
}

device::Facility* CpuDevice::facility(std::string_view name) {
    if (name == ops::Fill::kName) return &fill_;
    if (name == ops::Memory::kName) return &memory_;
    if (name == ops::Matmul::kName) return &matmul_;
    if (name == ops::Attention::kName) return &attention_;
    return nullptr;
}

}  // namespace assay::cpu
