// The pieces that promises of processors and of accelerators are made from.
#pragma once

#include <optional>
#include <string>

#include "catalog/promise.h"

namespace assay::catalog {

// A fact that is a whole number from 0 to 999,999; anything else is as unknown as one that isn't
// there.
std::optional<int> count_fact(const record::DeviceFacts& facts, const std::string& name);

// FLOP/cycle times the device's highest clock; unknown for the reason that either is.
Promise peak_at_highest_clock(const Promise& per_cycle, const record::DeviceFacts& facts);

// Of a CPU, from data/processors.toml; of an accelerator, from data/accelerators.toml. Both throw
// UsageError when the file is broken.
Promises processor_promises(const record::DeviceFacts& facts);
Promises accelerator_promises(const record::DeviceFacts& facts);

// Everything unknown, for one reason.
Promises unknown_promises(const std::string& device_kind, const std::string& reason);

}  // namespace assay::catalog
