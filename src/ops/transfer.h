// Copies by the vendor's runtime: between host and device, and inside the device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.h"
#include "ops/operation.h"
#include "work/transfer.h"

namespace assay::ops {

struct TransferRequest {
    work::Transfer what = work::Transfer::device_to_device;
    std::uint64_t bytes = 0;  // one way
    work::HostMemory host = work::HostMemory::pinned;
    int node = device::kAnyNode;  // NUMA node of the host memory
};

// One copy that a transfer makes (both_ways makes two).
struct TransferEnds {
    void* from = nullptr;
    void* to = nullptr;
    bool from_host = false, to_host = false;  // else an address of the device's
};

class PreparedTransfer : public Operation {
  public:
    virtual void enqueue(device::Stream& stream) = 0;
    // Pageable memory makes the host wait inside enqueue(): its stream must not be held.
    virtual bool waits() const = 0;
    virtual std::vector<TransferEnds> ends() const = 0;
};

class Transfer : public device::Facility {
  public:
    static constexpr const char* kName = "transfer";
    // Throws Unsupported.
    virtual std::unique_ptr<PreparedTransfer> prepare(const TransferRequest& request) = 0;
};

}  // namespace assay::ops
