// The arrays of a memory kernel on a device, and how calls go over them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/device.h"
#include "ops/memory.h"
#include "record/result.h"

namespace assay::probes {

// A call works on a slice of each array, and calls go through the slices in turn: a pass over
// gigabytes would give a handful of samples where a hundred are wanted. A small array is gone over
// several times in a call instead. How large a slice and how many passes, the device says.
struct Slicing {
    std::uint64_t bytes = 0;  // of a slice: the whole array where it is one slice; else all are
                              // equal, and under a page a slice is left over at the end
    std::uint64_t count = 1;
    int passes = 1;
};

Slicing slicing(std::uint64_t array_bytes, const ops::Memory& memory);

// Where the cores and the memory are: "local", or "0->1" for cores of node 0 and memory of node 1.
struct Nodes {
    int cores = device::kAnyNode;
    int memory = device::kAnyNode;
};

Nodes parse_nodes(const std::string& text);  // throws Error

class MemoryArrays {
  public:
    // The case's op, size and nodes. Throws Unsupported naming the bytes needed and free.
    MemoryArrays(device::Device& device, const record::Case& what);

    // What one call is asked to do.
    const ops::MemoryRequest& request() const { return request_; }
    // The slices that call number `call` works on.
    ops::MemoryOperands operands(std::size_t call) const;
    std::uint64_t slices() const { return slicing_.count; }
    std::uint64_t footprint_bytes() const { return footprint_bytes_; }

    // Each slice's answer, of a kernel prepared for request(): the first one's check, or the first
    // that failed.
    record::Check check(device::Device& device, ops::PreparedMemory& kernel,
                        std::uint64_t seed) const;

    // Once check() has passed, slice 0, which every sampling works on: what no kernel writes is put
    // into its target; calls since then are judged; or one more call is made and judged. A read has
    // no target: it can only be called again.
    bool has_target() const { return c_ != nullptr; }
    void poison(device::Device& device) const;
    record::Check compare(device::Device& device, std::uint64_t seed, std::string name) const;
    record::Check check_again(device::Device& device, ops::PreparedMemory& kernel,
                              std::uint64_t seed, std::string name) const;

    // Says in the conditions what a call is, for counted_bytes().
    void describe(record::Result& result) const;

  private:
    Slicing slicing_;
    std::uint64_t footprint_bytes_ = 0;
    ops::MemoryRequest request_;
    std::unique_ptr<device::Buffer> a_, b_, c_;
};

// Of one call, as describe() said. `text` says how they are counted. Throws Error for a result that
// doesn't say.
struct CountedBytes {
    double bytes = 0;
    std::string text;
};
CountedBytes counted_bytes(const record::Result& result);

}  // namespace assay::probes
