// NVIDIA's driver on a machine without a GPU, as far as cuDNN asks for it while it plans: it is
// there, and has no device.
#include <cstdint>

#define ASSAY_DRIVER extern "C" __attribute__((visibility("default"))) int

namespace {

constexpr int kSuccess = 0, kNoDevice = 100, kNotFound = 500;
constexpr int kVersion = 13000;

int no_device() {
    return kNoDevice;
}

}  // namespace

// What is looked for by name and not called.
#define ASSAY_NO_DEVICE(function) \
    ASSAY_DRIVER function() {     \
        return kNoDevice;         \
    }
ASSAY_NO_DEVICE(cuCtxGetCurrent)
ASSAY_NO_DEVICE(cuCtxGetLimit)
ASSAY_NO_DEVICE(cuCtxPopCurrent)
ASSAY_NO_DEVICE(cuCtxPushCurrent)
ASSAY_NO_DEVICE(cuDeviceGet)
ASSAY_NO_DEVICE(cuGetErrorName)
ASSAY_NO_DEVICE(cuGetErrorString)
ASSAY_NO_DEVICE(cuInit)
ASSAY_NO_DEVICE(cuKernelGetAttribute)
ASSAY_NO_DEVICE(cuKernelSetAttribute)
ASSAY_NO_DEVICE(cuLaunchCooperativeKernel)
ASSAY_NO_DEVICE(cuLaunchKernel)
ASSAY_NO_DEVICE(cuLaunchKernelEx)
ASSAY_NO_DEVICE(cuLibraryGetKernel)
ASSAY_NO_DEVICE(cuLibraryLoadData)
ASSAY_NO_DEVICE(cuLibraryLoadFromFile)
ASSAY_NO_DEVICE(cuLibraryUnload)
ASSAY_NO_DEVICE(cuLinkAddData)
ASSAY_NO_DEVICE(cuLinkComplete)
ASSAY_NO_DEVICE(cuLinkCreate)
ASSAY_NO_DEVICE(cuLinkDestroy)
ASSAY_NO_DEVICE(cuOccupancyMaxPotentialClusterSize)
ASSAY_NO_DEVICE(cuStreamGetCtx)

ASSAY_DRIVER cuDriverGetVersion(int* version) {
    *version = kVersion;
    return kSuccess;
}
ASSAY_DRIVER cuDeviceGetCount(int* count) {
    *count = 0;
    return kNoDevice;
}
ASSAY_DRIVER cuGetExportTable(const void** table, const void*) {
    *table = nullptr;
    return kNotFound;
}
ASSAY_DRIVER cuGetProcAddress_v2(const char*, void** function, int, std::uint64_t, int* status) {
    *function = reinterpret_cast<void*>(&no_device);
    if (status != nullptr) *status = kSuccess;
    return kSuccess;
}
