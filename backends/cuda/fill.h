// The random filler.
#pragma once

#include "ops/fill.h"

namespace assay::cuda {

class CudaFill : public ops::Fill {
  public:
    void enqueue(device::Stream& stream, const work::FillSpec& spec, work::Type type,
                 std::uint64_t count, void* out) override;
};

}  // namespace assay::cuda
