// How much memory this process may still take.
#pragma once

#include <cstddef>
#include <filesystem>

#include "device/device.h"

namespace assay::cpu {

// The smaller of the machine's and the control groups' memory. `free` leaves out what the system
// and the process itself need to go on: 1/32 of the total, 256 MiB at most.
device::MemoryState memory_state(const std::filesystem::path& root = "/");

// Throws Unsupported naming the bytes needed and free when they don't fit.
void require_memory(std::size_t bytes, const device::MemoryState& state);

}  // namespace assay::cpu
