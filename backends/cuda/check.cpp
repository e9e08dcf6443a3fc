#include "cuda/check.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace assay::cuda {

namespace {

std::string& device_name() {
    static std::string name = "no device yet";
    return name;
}

// Relative to the sources: the folder they were built in is nobody's business.
const char* in_sources(const char* file) {
    const char* found = std::strstr(file, "backends/");
    return found != nullptr ? found : file;
}

}  // namespace

void name_device(std::string name) {
    device_name() = std::move(name);
}

int device_in_use() {
    int device = 0;
    ASSAY_CUDA(cudaGetDevice(&device));
    return device;
}

bool is_sticky(cudaError_t status) {
    switch (status) {
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorContextIsDestroyed:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        case cudaErrorDevicesUnavailable:
        case cudaErrorNoDevice:
        case cudaErrorDeviceUninitialized:
        case cudaErrorExternalDevice:
        case cudaErrorUnknown:
            return true;
        default:
            return false;
    }
}

void check(cudaError_t status, const char* call, const char* file, int line) {
    if (status == cudaSuccess) return;
    const auto what =
        fmt::format("{} failed: {} ({}), at {}:{} on {}", call, cudaGetErrorString(status),
                    cudaGetErrorName(status), in_sources(file), line, device_name());
    if (is_sticky(status)) {
        throw DeviceLost(what,
                         "the process can't use the device any more; a new one goes on. If it "
                         "stays so, look at `nvidia-smi` and the kernel's log (Xid)");
    }
    (void)cudaGetLastError();  // else the next check of a launch finds it again
    if (status == cudaErrorMemoryAllocation) {
        throw Unsupported(what, "choose a smaller size, or free the device's memory");
    }
    throw Error(what, "report it with `assay info`");
}

void check_launch(const char* kernel, const char* file, int line) {
    check(cudaGetLastError(), kernel, file, line);
}

}  // namespace assay::cuda
