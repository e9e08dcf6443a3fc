// Host memory for transfers, pinned or pageable, on a NUMA node if asked for.
#pragma once

#include <cstddef>

#include "work/transfer.h"

namespace assay::cuda {

class HostMemory {
  public:
    // Pages are present. Throws Unsupported where they don't fit or the node can't be had.
    HostMemory(std::size_t bytes, work::HostMemory kind, int node);
    ~HostMemory();
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    void* data() { return data_; }

  private:
    void* data_ = nullptr;
    std::size_t bytes_;
    bool pinned_;
};

}  // namespace assay::cuda
