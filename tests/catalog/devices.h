// Accelerators as their module describes them.
#pragma once

#include "record/device_facts.h"

namespace assay::catalog {

inline record::DeviceFacts h200() {
    record::DeviceFacts facts;
    facts.id = "cuda:0";
    facts.kind = "cuda";
    facts.name = "NVIDIA H200";
    facts.vendor = "NVIDIA";
    facts.compute_units = facts.compute_units_total = 132;
    facts.memory_bytes = 150'109'880'320;
    facts.last_level_cache_bytes = 50 << 20;
    facts.max_clock_mhz = 1980;
    facts.max_clock_source = "NVML";
    facts.features = {"sm_90"};
    facts.facts = {{"compute_capability", "9.0"}, {"memory_bus_bits", "6144"},
                   {"memory_clock_mhz", "3201"},  {"power_limit_w", "700"},
                   {"l2_bytes", "52428800"},      {"pci_device_id", "0x233510de"}};
    return facts;
}

}  // namespace assay::catalog
