// What CUDA and NVML say of the devices here.
#pragma once

#include <string>
#include <vector>

#include "record/device_facts.h"

namespace assay::cuda {

// Devices that this process may use, in CUDA's order; empty, with the reason in `why`, where there
// is none: no driver, one too old (both versions named), CUDA_VISIBLE_DEVICES.
std::vector<record::DeviceFacts> list_devices(std::string& why);

// 10 x major + minor: 90 for "sm_90".
int capability(const record::DeviceFacts& facts);

// "driver 470.57 (CUDA 11.4) is too old: this build needs driver 580 or newer (CUDA 13.0)". The
// arguments are CUDA's version numbers, 1000 x major + 10 x minor.
std::string too_old(const std::string& driver, int driver_cuda, int needed_cuda);

}  // namespace assay::cuda
