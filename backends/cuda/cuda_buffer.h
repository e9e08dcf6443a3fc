// Device memory.
#pragma once

#include <cstddef>

#include "device/device.h"

namespace assay::cuda {

class CudaBuffer : public device::Buffer {
  public:
    // Throws Unsupported naming the bytes needed and free.
    explicit CudaBuffer(std::size_t bytes);
    ~CudaBuffer() override;
    CudaBuffer(const CudaBuffer&) = delete;
    CudaBuffer& operator=(const CudaBuffer&) = delete;

    void* data() override { return data_; }
    std::size_t size() const override { return bytes_; }

  private:
    void* data_ = nullptr;
    std::size_t bytes_;
};

device::MemoryState memory_state();

}  // namespace assay::cuda
