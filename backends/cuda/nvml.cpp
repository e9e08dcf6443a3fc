#include "cuda/nvml.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/units.h"

namespace assay::cuda {

namespace {

constexpr int kSmClock = 1, kMemoryClock = 2;
constexpr int kGpuSensor = 0;
constexpr unsigned kPowerAverage = 185, kPowerInstant = 186;

struct Reason {
    unsigned long long bit;
    std::string_view name;
};
constexpr std::array kReasons{
    Reason{0x2, "application clocks"},  Reason{0x4, "power cap"},
    Reason{0x8, "hardware slowdown"},   Reason{0x10, "sync boost"},
    Reason{0x20, "thermal (software)"}, Reason{0x40, "thermal (hardware)"},
    Reason{0x80, "power brake"},        Reason{0x100, "display clocks"},
};

// A call that reads one number.
template <class Call, class... Rest>
std::optional<double> number(Call call, double scale, Rest... rest) {
    unsigned value = 0;
    if (call(rest..., &value) != 0) return std::nullopt;
    return value * scale;
}

}  // namespace

Nvml::Nvml() : library_("ASSAY_LIB_NVML", {"libnvidia-ml.so.1"}) {
    library_.bind(init_, "nvmlInit_v2");
    library_.bind(error_string_, "nvmlErrorString");
    library_.bind(index_, "nvmlDeviceGetIndex");
    library_.bind(driver_version_, "nvmlSystemGetDriverVersion");
    library_.bind(by_uuid_, "nvmlDeviceGetHandleByUUID");
    library_.bind(by_bus_, "nvmlDeviceGetHandleByPciBusId_v2");
    library_.bind(clock_, "nvmlDeviceGetClockInfo");
    library_.bind(max_clock_, "nvmlDeviceGetMaxClockInfo");
    library_.bind(application_clock_, "nvmlDeviceGetApplicationsClock");
    library_.bind(power_, "nvmlDeviceGetPowerUsage");
    library_.bind(energy_, "nvmlDeviceGetTotalEnergyConsumption");
    library_.bind(temperature_, "nvmlDeviceGetTemperature");
    library_.bind(reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    library_.bind(power_limit_, "nvmlDeviceGetEnforcedPowerLimit");
    library_.bind(default_power_limit_, "nvmlDeviceGetPowerManagementDefaultLimit");
    library_.bind(persistence_, "nvmlDeviceGetPersistenceMode");
    library_.bind(ecc_, "nvmlDeviceGetEccMode");
    library_.bind(remapped_rows_, "nvmlDeviceGetRemappedRows");
    library_.bind(mig_, "nvmlDeviceGetMigMode");
    library_.bind(processes_, "nvmlDeviceGetComputeRunningProcesses_v3");
    library_.bind(fields_, "nvmlDeviceGetFieldValues");
    if (const int status = init_(); status != 0) {
        throw Unsupported(fmt::format("nvmlInit failed: {}", error_string_(status)));
    }
}

const Nvml* Nvml::instance(std::string& why) {
    static std::string reason;
    static const std::unique_ptr<const Nvml> nvml = []() -> std::unique_ptr<const Nvml> {
        try {
            return std::unique_ptr<const Nvml>(new Nvml);
        } catch (const Unsupported& error) {
            reason = error.what();
            return nullptr;
        }
    }();
    why = reason;
    return nvml.get();
}

std::string Nvml::driver_version() const {
    std::array<char, 96> text{};
    return driver_version_(text.data(), text.size()) == 0 ? text.data() : "";
}

NvmlDevice::NvmlDevice(const Nvml& nvml, const std::string& uuid, const std::string& bus_id)
    : nvml_(nvml) {
    // CUDA gives the bytes alone: what they are of is tried.
    const auto bytes = uuid.substr(uuid.find('-') + 1);
    if (nvml.by_uuid_(("GPU-" + bytes).c_str(), &handle_) == 0) return;
    if (nvml.by_uuid_(("MIG-" + bytes).c_str(), &handle_) == 0 && clock_mhz()) return;
    whole_card_ = true;
    const int status = nvml.by_bus_(bus_id.c_str(), &handle_);
    if (status != 0) {
        throw Unsupported(fmt::format("NVML doesn't know device {} ({}): {}", uuid, bus_id,
                                      nvml.error_string_(status)));
    }
}

std::optional<int> NvmlDevice::index() const {
    unsigned index = 0;
    if (nvml_.index_(handle_, &index) != 0) return std::nullopt;
    return static_cast<int>(index);
}

std::optional<double> NvmlDevice::field(unsigned id, double scale) const {
    Nvml::FieldValue value;
    value.field = id;
    if (nvml_.fields_(handle_, 1, &value) != 0 || value.status != 0) return std::nullopt;
    constexpr int kUnsignedInt = 1;
    if (value.type != kUnsignedInt) return std::nullopt;
    return value.value.unsigned_int * scale;
}

std::optional<double> NvmlDevice::clock_mhz() const {
    return number(nvml_.clock_, 1, handle_, kSmClock);
}

std::optional<double> NvmlDevice::memory_clock_mhz() const {
    return number(nvml_.clock_, 1, handle_, kMemoryClock);
}

std::optional<double> NvmlDevice::max_clock_mhz() const {
    return number(nvml_.max_clock_, 1, handle_, kSmClock);
}

std::optional<double> NvmlDevice::power_now_w() const {
    // Older boards have only the one that NVML calls usage.
    if (const auto now = field(kPowerInstant, 1e-3)) return now;
    return number(nvml_.power_, 1e-3, handle_);
}

std::optional<double> NvmlDevice::power_average_w() const {
    return field(kPowerAverage, 1e-3);
}

std::optional<double> NvmlDevice::energy_j() const {
    unsigned long long millijoule = 0;
    if (nvml_.energy_(handle_, &millijoule) != 0) return std::nullopt;
    return static_cast<double>(millijoule) * 1e-3;
}

std::optional<double> NvmlDevice::temperature_c() const {
    return number(nvml_.temperature_, 1, handle_, kGpuSensor);
}

std::optional<double> NvmlDevice::power_limit_w() const {
    return number(nvml_.power_limit_, 1e-3, handle_);
}

std::vector<std::string> NvmlDevice::throttle_reasons() const {
    unsigned long long reasons = 0;
    if (nvml_.reasons_(handle_, &reasons) != 0) return {};
    return reason_names(reasons);
}

std::vector<std::string> reason_names(unsigned long long reasons) {
    std::vector<std::string> names;
    for (const auto& reason : kReasons) {
        if ((reasons & reason.bit) != 0) names.emplace_back(reason.name);
    }
    return names;
}

std::map<std::string, std::string> NvmlDevice::settings() const {
    std::map<std::string, std::string> settings;
    const auto keep = [&](const char* name, const std::optional<double>& value) {
        if (value) settings[name] = fmt::format("{:g}", *value);
    };
    const auto on = [](bool is_on) { return is_on ? "on" : "off"; };
    keep("power_limit_w", power_limit_w());
    keep("default_power_limit_w", number(nvml_.default_power_limit_, 1e-3, handle_));
    keep("application_clock_mhz", number(nvml_.application_clock_, 1, handle_, kSmClock));
    keep("memory_clock_mhz", memory_clock_mhz());
    int mode = 0, pending = 0;
    if (nvml_.persistence_(handle_, &mode) == 0) settings["persistence_mode"] = on(mode != 0);
    if (nvml_.ecc_(handle_, &mode, &pending) == 0) {
        settings["ecc"] = on(mode != 0);
        if (mode != pending) settings["ecc"] += fmt::format(", {} after a reset", on(pending != 0));
    }
    unsigned current = 0, wanted = 0;
    if (nvml_.mig_(handle_, &current, &wanted) == 0) {
        settings["mig"] = current != 0 ? "enabled" : "disabled";
    }
    unsigned corrected = 0, uncorrected = 0, waiting = 0, failed = 0;
    if (nvml_.remapped_rows_(handle_, &corrected, &uncorrected, &waiting, &failed) == 0) {
        settings["remapped_rows"] = fmt::format(
            "{} for correctable, {} for uncorrectable errors{}{}", corrected, uncorrected,
            waiting != 0 ? ", more after a reset" : "", failed != 0 ? ", a remap failed" : "");
    }
    return settings;
}

std::string NvmlDevice::other_processes() const {
    constexpr unsigned kMost = 1024;
    std::vector<Nvml::ProcessInfo> processes(kMost);
    unsigned count = kMost;
    if (nvml_.processes_(handle_, &count, processes.data()) != 0) return "";
    processes.resize(std::min(count, kMost));
    const auto before = processes.size();
    std::erase_if(processes, [](const auto& process) {
        return process.pid == static_cast<unsigned>(::getpid());
    });
    // In a container the numbers may be those of the host, where this process has another.
    const bool strange = processes.size() == before && before > 0;
    if (strange) {
        return before == 1 ? "" : fmt::format("{}, with ids of another namespace", before - 1);
    }
    std::string text;
    for (const auto& process : processes) {
        if (!text.empty()) text += ", ";
        text += std::to_string(process.pid);
        constexpr auto kUnknown = ~0ULL;
        if (process.used_bytes != kUnknown) {
            text += fmt::format(" ({})", format_bytes(static_cast<double>(process.used_bytes)));
        }
    }
    return text;
}

}  // namespace assay::cuda
