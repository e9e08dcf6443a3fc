// One device for the tests that need a whole one: opening it costs time.
#pragma once

#include "cpu/cpu_device.h"

namespace assay::cpu {

inline device::Device& device_under_test() {
    static CpuDevice device;
    return device;
}

}  // namespace assay::cpu
