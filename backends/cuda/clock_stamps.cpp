#include "cuda/clock_stamps.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "cuda/check.h"
#include "cuda/cuda_stream.h"

namespace assay::cuda {

void CudaClockStamps::reserve(std::size_t count) {
    const std::size_t bytes = count * static_cast<std::size_t>(compute_units_) * sizeof(Stamp);
    if (count > reserved_) {
        stamps_.reset();
        stamps_ = std::make_unique<CudaBuffer>(bytes);
        reserved_ = count;
    }
    // A multiprocessor that no block lands on must not show an earlier run's stamp.
    ASSAY_CUDA(cudaMemset(stamps_->data(), 0, bytes));
    ASSAY_CUDA(cudaStreamSynchronize(cudaStreamLegacy));  // no other stream waits for it
}

void CudaClockStamps::enqueue(device::Stream& stream, std::size_t index) {
    if (index >= reserved_) throw Error("a clock stamp beyond those reserved");
    launch_stamp(
        static_cast<Stamp*>(stamps_->data()) + index * static_cast<std::size_t>(compute_units_),
        compute_units_, CudaStream::of(stream));
    ASSAY_CUDA_LAUNCHED("stamp");
}

std::vector<double> CudaClockStamps::clock_mhz(std::size_t count) {
    if (count < 2) return {};
    const auto units = static_cast<std::size_t>(compute_units_);
    std::vector<Stamp> stamps(count * units);
    ASSAY_CUDA(cudaMemcpy(stamps.data(), stamps_->data(), stamps.size() * sizeof(Stamp),
                          cudaMemcpyDeviceToHost));
    std::vector<double> clocks;
    for (std::size_t i = 0; i + 1 < count; ++i) {
        clocks.push_back(clock_between(&stamps[i * units], &stamps[(i + 1) * units], units));
    }
    return clocks;
}

double clock_between(const Stamp* first, const Stamp* second, std::size_t count) {
    std::vector<double> mhz;
    for (std::size_t i = 0; i < count; ++i) {
        if (first[i].ns == 0 || second[i].ns <= first[i].ns) continue;
        if (second[i].cycles <= first[i].cycles) continue;
        mhz.push_back(1e3 * static_cast<double>(second[i].cycles - first[i].cycles) /
                      static_cast<double>(second[i].ns - first[i].ns));
    }
    if (mhz.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto middle = mhz.begin() + static_cast<std::ptrdiff_t>(mhz.size() / 2);
    std::nth_element(mhz.begin(), middle, mhz.end());
    return *middle;
}

}  // namespace assay::cuda
