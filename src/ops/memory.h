// Memory kernels (work/memory_op.h).
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.h"
#include "ops/operation.h"
#include "work/memory_op.h"

namespace assay::ops {

// Device addresses of arrays of fp32, aligned to 64 bytes; those the op doesn't use are null.
struct MemoryOperands {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
};

struct MemoryRequest {
    work::MemoryOp op = work::MemoryOp::copy;
    std::uint64_t bytes_per_array = 0;  // a multiple of 4
    bool in_cache = false;              // plain stores; else stores may pass the caches by
    int node = device::kAnyNode;        // compute on this NUMA node's cores only
    int passes = 1;                     // over the arrays in one call
};

class PreparedMemory : public Operation {
  public:
    virtual void enqueue(device::Stream& stream, const MemoryOperands& operands) = 0;
    // read only: the sum of the last call's array, after synchronizing.
    virtual double sum() = 0;
};

class Memory : public device::Facility {
  public:
    static constexpr const char* kName = "memory";
    // Throws Unsupported.
    virtual std::unique_ptr<PreparedMemory> prepare(const MemoryRequest& request) = 0;
};

}  // namespace assay::ops
