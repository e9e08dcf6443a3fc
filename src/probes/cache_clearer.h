// Clears the caches between calls, as timing methods and the article protocol do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "device/device.h"
#include "ops/memory.h"
#include "probes/probe.h"
#include "record/result.h"

namespace assay::probes {

// Writes 256 MiB through the caches, as a memset does.
class CacheClearer {
  public:
    // Throws Unsupported when the device has no such memory left.
    explicit CacheClearer(device::Device& device);

    void operator()();  // returns when it is done

    // Why the caches may not be clear afterwards, or "".
    std::string shortfall() const;

  private:
    std::uint64_t last_level_cache_bytes_;
    std::unique_ptr<device::Buffer> buffer_;
    std::unique_ptr<device::Stream> stream_;
    std::unique_ptr<ops::PreparedMemory> write_;
};

// What a subject runs between samples: clears the caches where the bench's protocol says so, else
// empty. Says in the conditions where clearing falls short.
std::function<void()> clearing(Bench& bench, record::Result& result);

}  // namespace assay::probes
