// The processor's shape: cores, hardware threads, caches, NUMA nodes, as hwloc sees them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "record/device_facts.h"

namespace assay::cpu {

struct Core {
    std::vector<int> cpus;  // its hardware threads, as the kernel numbers them
    int node = 0;           // of the NUMA node nearest to it

    bool operator==(const Core&) const = default;
};

class Topology {
  public:
    // Of this machine; or of a machine that hwloc's synthetic description tells, for tests. Throws
    // Error when hwloc can't read it.
    explicit Topology(const std::string& synthetic = "");
    ~Topology();
    Topology(const Topology&) = delete;
    Topology& operator=(const Topology&) = delete;

    const std::vector<Core>& cores() const { return cores_; }
    const std::vector<record::CacheFacts>& caches() const { return caches_; }  // data, by level
    const std::vector<record::NodeFacts>& nodes() const { return nodes_; }
    int packages() const { return packages_; }

    // Has the pages of an area come from one NUMA node when they are first touched. Throws Error
    // with the system's reason.
    void bind_memory(void* address, std::size_t bytes, int node) const;

  private:
    struct Handle;
    std::unique_ptr<Handle> handle_;
    std::vector<Core> cores_;
    std::vector<record::CacheFacts> caches_;
    std::vector<record::NodeFacts> nodes_;
    int packages_ = 0;
};

// One hardware thread a core: the first of each that `allowed` holds, at most as many as the
// control group's quota of processors lets run at once (`quota` 0: no limit).
std::vector<Core> usable_cores(const Topology& topology, const std::vector<int>& allowed,
                               double quota);

}  // namespace assay::cpu
