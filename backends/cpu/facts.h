// The record of this processor.
#pragma once

#include <filesystem>

#include "cpu/topology.h"
#include "record/device_facts.h"

namespace assay::cpu {

// The cores that this process may use: affinity mask and control group quota.
std::vector<Core> usable_cores(const Topology& topology);

record::DeviceFacts read_facts(const Topology& topology, const std::vector<Core>& usable,
                               const std::filesystem::path& root = "/");

}  // namespace assay::cpu
