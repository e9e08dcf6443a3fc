#include "cuda/facts.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "cuda/check.h"
#include "cuda/nvml.h"
#include "cuda/runtime_version.h"

namespace assay::cuda {

namespace {

// The first branch of drivers with each major version of CUDA (CUDA Toolkit release notes, table
// 3).
std::string driver_for(int cuda) {
    switch (cuda / 1000) {
        case 11:
            return "450";
        case 12:
            return "525";
        case 13:
            return "580";
        default:
            return "for CUDA " + cuda_version(cuda);
    }
}

std::string uuid_text(const cudaUUID_t& uuid) {
    std::string text = "GPU-";
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
    }
    return text;
}

int attribute(cudaDeviceAttr name, int device) {
    int value = 0;
    ASSAY_CUDA(cudaDeviceGetAttribute(&value, name, device));
    return value;
}

// The slider between the clocks of memory and multiprocessors ("vboost"), by NVML's number of the
// card: the driver's own tool shows it, and NVML has no call for it. Asked once a process, by
// popen, which starts the tool without a copy of this process.
const std::map<int, std::string>& boost_sliders() {
    static const auto sliders = [] {
        std::map<int, std::string> found;
        const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
            ::popen("timeout 5 nvidia-smi boost-slider -l 2>/dev/null", "r"), ::pclose);
        std::array<char, 256> line{};
        while (pipe && std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
            int index = 0, largest = 0, current = 0;
            if (std::sscanf(line.data(), "| %d vboost %d %d", &index, &largest, &current) == 3) {
                found[index] = fmt::format("{} of {}", current, largest);
            }
        }
        return found;
    }();
    return sliders;
}

record::DeviceFacts read_facts(int index, const Nvml* nvml, const std::string& why) {
    cudaDeviceProp properties{};
    ASSAY_CUDA(cudaGetDeviceProperties(&properties, index));
    record::DeviceFacts facts;
    facts.id = fmt::format("cuda:{}", index);
    facts.kind = "cuda";
    facts.name = static_cast<const char*>(properties.name);
    facts.vendor = "NVIDIA";
    facts.unique_id = uuid_text(properties.uuid);
    facts.compute_units = facts.compute_units_total = properties.multiProcessorCount;
    facts.memory_bytes = properties.totalGlobalMem;
    const auto l2 = static_cast<std::uint64_t>(properties.l2CacheSize);
    facts.caches = {{1, properties.sharedMemPerMultiprocessor, properties.multiProcessorCount},
                    {2, l2, 1}};
    facts.last_level_cache_bytes = l2;
    facts.features = {fmt::format("sm_{}{}", properties.major, properties.minor)};

    auto& more = facts.facts;
    more["compute_capability"] = fmt::format("{}.{}", properties.major, properties.minor);
    more["memory_bus_bits"] = std::to_string(properties.memoryBusWidth);
    more["memory_clock_mhz"] = std::to_string(attribute(cudaDevAttrMemoryClockRate, index) / 1000);
    more["l2_bytes"] = std::to_string(l2);
    more["copy_engines"] = std::to_string(properties.asyncEngineCount);
    std::array<char, 32> bus_id{};
    ASSAY_CUDA(cudaDeviceGetPCIBusId(bus_id.data(), bus_id.size(), index));
    more["pci_bus_id"] = bus_id.data();
    int driver = 0, runtime = 0;
    ASSAY_CUDA(cudaDriverGetVersion(&driver));
    ASSAY_CUDA(cudaRuntimeGetVersion(&runtime));
    more["driver_cuda"] = cuda_version(driver);
    more["needs"] =
        fmt::format("driver {} or newer (CUDA {})", driver_for(runtime), cuda_version(runtime));

    facts.max_clock_mhz = attribute(cudaDevAttrClockRate, index) / 1000.0;
    facts.max_clock_source = "CUDA, clock rate";
    if (nvml == nullptr) {
        more["nvml"] = "unavailable: " + why;
        return facts;
    }
    more["driver"] = nvml->driver_version();
    try {
        const NvmlDevice device(*nvml, facts.unique_id, bus_id.data());
        if (const auto clock = device.max_clock_mhz()) {
            facts.max_clock_mhz = clock;
            facts.max_clock_source = "NVML, highest SM clock";
        }
        more.merge(device.settings());
        const auto slider = boost_sliders().find(device.index().value_or(-1));
        if (slider != boost_sliders().end()) more["vboost"] = slider->second;
    } catch (const Unsupported& error) {
        more["nvml"] = std::string("unavailable: ") + error.what();
    }
    return facts;
}

std::string visible_devices() {
    const char* value = std::getenv("CUDA_VISIBLE_DEVICES");
    return value == nullptr ? "" : fmt::format(" (CUDA_VISIBLE_DEVICES is \"{}\")", value);
}

std::string why_none(cudaError_t status, const Nvml* nvml) {
    int driver = 0, runtime = 0;
    (void)cudaRuntimeGetVersion(&runtime);
    const bool asked = cudaDriverGetVersion(&driver) == cudaSuccess;
    (void)cudaGetLastError();
    if (!asked || driver == 0) {
        return fmt::format("no NVIDIA driver here: this build needs driver {} or newer",
                           driver_for(runtime));
    }
    const auto name = nvml == nullptr ? "" : nvml->driver_version();
    if (status == cudaErrorInsufficientDriver) return too_old(name, driver, runtime);
    return fmt::format("CUDA finds no device: {}{}", cudaGetErrorString(status), visible_devices());
}

}  // namespace

std::string too_old(const std::string& driver, int driver_cuda, int needed_cuda) {
    return fmt::format(
        "driver {}(CUDA {}) is too old: this build needs driver {} or newer (CUDA {})",
        driver.empty() ? "" : driver + " ", cuda_version(driver_cuda), driver_for(needed_cuda),
        cuda_version(needed_cuda));
}

int capability(const record::DeviceFacts& facts) {
    int value = 0;
    for (const auto& feature : facts.features) {
        if (feature.starts_with("sm_")) value = std::atoi(feature.c_str() + 3);
    }
    return value;
}

std::vector<record::DeviceFacts> list_devices(std::string& why) {
    why.clear();
    std::string no_nvml;
    const auto* nvml = Nvml::instance(no_nvml);
    int count = 0;
    const auto status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        (void)cudaGetLastError();
        why = why_none(status, nvml);
        return {};
    }
    std::vector<record::DeviceFacts> devices;
    for (int i = 0; i < count; ++i) {
        try {
            devices.push_back(read_facts(i, nvml, no_nvml));
        } catch (const Error& error) {
            // The others keep their numbers; opening this one will say it again.
            record::DeviceFacts lost;
            lost.id = fmt::format("cuda:{}", i);
            lost.kind = "cuda";
            lost.name = std::string("unusable: ") + error.what();
            devices.push_back(std::move(lost));
        }
    }
    return devices;
}

}  // namespace assay::cuda
