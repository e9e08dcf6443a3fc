// Memory kernels (work/memory_op.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
    std::string kernel = {};            // one of Memory::kernels(op); empty: the first
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
    // Ways to do `op`, the default first. Empty: there is one.
    virtual std::vector<std::string> kernels(work::MemoryOp /*op*/) const { return {}; }
    // Bytes of an array that one call should go over, so that it lasts about a millisecond, and
    // those that it should at least move, in several passes, so that its start is a small part.
    virtual std::uint64_t largest_slice() const { return std::uint64_t{32} << 20; }
    virtual std::uint64_t least_bytes() const { return std::uint64_t{8} << 20; }
    // Throws Unsupported.
    virtual std::unique_ptr<PreparedMemory> prepare(const MemoryRequest& request) = 0;
};

}  // namespace assay::ops
