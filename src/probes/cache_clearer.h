// Clears the caches between calls, as timing methods and the article protocol do.
#pragma once

#include <memory>

#include "device/device.h"
#include "ops/memory.h"

namespace assay::probes {

// Writes 256 MiB through the caches, as a memset does.
class CacheClearer {
  public:
    // Throws Unsupported when the device has no such memory left.
    explicit CacheClearer(device::Device& device);

    void operator()();  // returns when it is done

  private:
    std::unique_ptr<device::Buffer> buffer_;
    std::unique_ptr<device::Stream> stream_;
    std::unique_ptr<ops::PreparedMemory> write_;
};

}  // namespace assay::probes
