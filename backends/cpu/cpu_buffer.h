// Memory mapped for one buffer: present, on huge pages where the system gives them, and given back
// to the system with the object.
#pragma once

#include <cstddef>

#include "cpu/thread_team.h"
#include "cpu/topology.h"
#include "device/device.h"

namespace assay::cpu {

class CpuBuffer : public device::Buffer {
  public:
    // With kAnyNode each page lies near the member of the team that works on it (share.h), else
    // all lie on `node`. Throws Unsupported when the memory isn't there or the node doesn't exist.
    CpuBuffer(std::size_t bytes, int node, const Topology& topology, ThreadTeam& team);
    ~CpuBuffer() override;
    CpuBuffer(const CpuBuffer&) = delete;
    CpuBuffer& operator=(const CpuBuffer&) = delete;

    void* data() override { return data_; }
    std::size_t size() const override { return bytes_; }

  private:
    std::size_t bytes_;
    std::size_t mapped_bytes_;
    void* data_ = nullptr;
};

}  // namespace assay::cpu
