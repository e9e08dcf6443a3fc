// A graph of null kernels, captured, launched and timed by the bare CUDA runtime.
#pragma once

namespace assay::bench {

inline constexpr int kKernels = 100;

void launch_null(void* stream);

class BareGraph {
  public:
    BareGraph();
    // Of one kernel, over `launches` of the graph.
    double seconds(int launches);

  private:
    void* stream_ = nullptr;
    void* executable_ = nullptr;
    void* start_ = nullptr;
    void* end_ = nullptr;
};

}  // namespace assay::bench
