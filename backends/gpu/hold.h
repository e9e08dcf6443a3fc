// A kernel that keeps a stream waiting until the host lets it go.
#pragma once

#include <cstdint>

#include "gpu/runtime.h"

namespace assay::gpu {

// Queues a wait until *released, host memory that the device sees, is at least `ticket`.
void launch_hold(const volatile std::uint64_t* released, std::uint64_t ticket, Stream stream);

}  // namespace assay::gpu
