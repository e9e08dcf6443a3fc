#include "probes/device_output.h"

#include <algorithm>
#include <cmath>

#include "work/fill.h"

namespace assay::probes {

using work::AttentionTensor;

DeviceOutput::DeviceOutput(device::Device& device, const ops::AttentionOperands& operands,
                           const work::Attention& problem)
    : device_(device),
      o_(static_cast<const std::byte*>(operands.o)),
      problem_(problem),
      lse_(static_cast<std::size_t>(work::extent(problem, AttentionTensor::lse))) {
    device.copy_out(lse_.data(), operands.lse, lse_.size() * sizeof(float));
}

work::AttentionRow DeviceOutput::row(std::int64_t entry, std::int64_t head, std::int64_t row,
                                     std::span<const double> d_o) {
    const auto& slab = slab_of(entry, head, row);
    const auto at = work::position(problem_, AttentionTensor::o, entry, head, row) - slab.first;
    double delta = 0, squares = 0, squares_of_d_o = 0;
    for (std::size_t i = 0; i < d_o.size(); ++i) {
        const double o =
            work::load(problem_.type, slab.bytes.data(), static_cast<std::uint64_t>(at) + i);
        delta += d_o[i] * o;
        squares += o * o;
        squares_of_d_o += d_o[i] * d_o[i];
    }
    return {lse(entry, head, row), delta, std::sqrt(squares_of_d_o) * std::sqrt(squares)};
}

double DeviceOutput::lse(std::int64_t entry, std::int64_t head, std::int64_t row) const {
    const auto at = work::position(problem_, AttentionTensor::lse, entry, head, row);
    return static_cast<double>(lse_[static_cast<std::size_t>(at)]);
}

const DeviceOutput::Slab& DeviceOutput::slab_of(std::int64_t entry, std::int64_t head,
                                                std::int64_t row) {
    constexpr std::int64_t kRows = 128;
    const auto& strides = problem_.of(AttentionTensor::o);
    const bool by_token = strides.head < strides.row;  // then one slab has all heads
    auto& slab = slabs_[by_token ? 0 : head];
    if (slab.entry == entry && slab.chunk == row / kRows) return slab;
    slab.entry = entry;
    slab.chunk = row / kRows;
    const auto begin = slab.chunk * kRows;
    const auto end = std::min(begin + kRows, work::queries_of(problem_, entry));
    const auto at = [&](std::int64_t h, std::int64_t r) {
        return work::position(problem_, AttentionTensor::o, entry, h, r);
    };
    slab.first = at(by_token ? 0 : head, begin);
    const auto last = at(by_token ? problem_.heads - 1 : head, end - 1) + problem_.value_dim;
    const auto size = work::size_of(problem_.type);
    slab.bytes.resize(static_cast<std::size_t>(last - slab.first) * size);
    device_.copy_out(slab.bytes.data(), o_ + static_cast<std::size_t>(slab.first) * size,
                     slab.bytes.size());
    return slab;
}

}  // namespace assay::probes
