// One GPU.
#pragma once

#include "cuda/attention.h"
#include "cuda/clock_stamps.h"
#include "cuda/cuda_telemetry.h"
#include "cuda/fill.h"
#include "cuda/matmul.h"
#include "cuda/memory.h"
#include "cuda/transfer.h"
#include "device/device.h"

namespace assay::cuda {

// One thread at a time may use it.
class CudaDevice : public device::Device {
  public:
    // `facts` as list_devices() gives them.
    explicit CudaDevice(record::DeviceFacts facts);

    const record::DeviceFacts& facts() const override { return facts_; }
    device::MemoryState memory() const override;
    std::unique_ptr<device::Buffer> allocate(std::size_t bytes, int node) override;
    std::unique_ptr<device::Stream> create_stream() override;
    std::unique_ptr<device::Event> create_event() override;
    device::Telemetry& telemetry() override { return telemetry_; }
    void copy_in(void* to, const void* from_host, std::size_t bytes) override;
    void copy_out(void* to_host, const void* from, std::size_t bytes) override;
    device::Facility* facility(std::string_view name) override;

  private:
    void load_kernels();

    record::DeviceFacts facts_;
    CudaTelemetry telemetry_;
    CudaFill fill_;
    CudaMemory memory_;
    CudaTransfer transfer_;
    CudaMatmul matmul_;
    CudaAttention attention_;
    CudaClockStamps stamps_;
};

}  // namespace assay::cuda
