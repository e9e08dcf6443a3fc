// Operands filled on the device, bit for bit as work::fill does on the host.
#pragma once

#include <cstdint>

#include "gpu/runtime.h"
#include "work/fill.h"

namespace assay::gpu {

// Queues the writing of elements 0 .. count - 1 of `type` to `out`, a device address aligned to 32
// bytes. A launch that fails is found in the runtime's last error.
void launch_fill(const work::FillSpec& spec, work::Type type, std::uint64_t count, void* out,
                 Stream stream);

}  // namespace assay::gpu
