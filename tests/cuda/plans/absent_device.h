// A device to plan for where there is none: what cuDNN would read of an H200, written down. It asks
// for the driver all the same, so there is one that only pretends.
#pragma once

#include <string>

#include <dlfcn.h>

#include "base/json.h"
#include "cuda/cudnn/descriptor.h"

namespace assay::cuda {

inline std::string h200_properties() {
    return Json{{"deviceName", "NVIDIA H200"},
                {"deviceVer", 900},
                {"cudaDeviceId", 0},
                {"pciDeviceId", 0},
                {"driverVer", 13000},
                {"isTccDriver", 0},
                {"supportCoopLaunch", 1},
                {"multiProcessorCount", 132},
                {"warpSize", 32},
                {"maxThreadsPerBlock", 1024},
                {"maxThreadsPerSM", 2048},
                {"maxCtasPerSM", 32},
                {"maxGridSize", {2147483647, 65535, 65535}},
                {"maxBlockSize", {1024, 1024, 64}},
                {"regsPerBlock", 65536},
                {"maxRegistersPerSM", 65536},
                {"maxSharedMemoryPerBlock", 49152},
                {"maxSharedMemoryPerBlockOptin", 232448},
                {"reservedSharedMemoryPerBlock", 1024},
                {"l2CacheSize", 62914560},
                {"totalGlobalMem", 150754820096},
                {"smClockRateKHz", 1980000},
                {"memClockRateKHz", 3201000}}
        .dump();
}

// The machine's own driver where it has one, else the stand-in. Null, and dlerror() says why, where
// neither can be loaded.
inline void* load_driver(const char* stand_in) {
    auto* real = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    return real != nullptr ? real : dlopen(stand_in, RTLD_NOW | RTLD_GLOBAL);
}

// For a target's properties; needs a driver.
inline CudnnDescriptor absent_device() {
    CudnnDescriptor made(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "a device");
    made.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, h200_properties());
    made.finalize();
    return made;
}

}  // namespace assay::cuda
