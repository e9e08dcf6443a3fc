// The multiprocessors' own clock: cycle counters over the global timer.
#pragma once

#include <memory>

#include "cuda/cuda_buffer.h"
#include "cuda/stamp.h"
#include "ops/clock_stamps.h"

namespace assay::cuda {

class CudaClockStamps : public ops::ClockStamps {
  public:
    explicit CudaClockStamps(int compute_units) : compute_units_(compute_units) {}

    void reserve(std::size_t count) override;
    void enqueue(device::Stream& stream, std::size_t index) override;
    std::vector<double> clock_mhz(std::size_t count) override;

  private:
    int compute_units_;
    std::size_t reserved_ = 0;
    std::unique_ptr<CudaBuffer> stamps_;
};

// MHz between two readings of the same multiprocessors: the median of those that were stamped both
// times and agree with time going forward, NaN where there is none.
double clock_between(const Stamp* first, const Stamp* second, std::size_t count);

}  // namespace assay::cuda
