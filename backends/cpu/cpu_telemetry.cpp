#include "cpu/cpu_telemetry.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/time.h"

namespace assay::cpu {
namespace {

namespace fs = std::filesystem;

// Of the package: hwmon's coretemp (Intel) and k10temp (AMD) both put it first.
std::vector<CounterFile> temperature_files(const fs::path& root) {
    std::vector<CounterFile> files;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root / "sys/class/hwmon", none)) {
        const std::string name = read_text(entry.path() / "name").value_or("");
        if (name == "coretemp" || name == "k10temp")
            files.emplace_back(entry.path() / "temp1_input");
    }
    return files;
}

}  // namespace

CpuTelemetry::CpuTelemetry(const std::vector<Core>& cores, const fs::path& root)
    : clock_(make_clock_meter()),
      energy_(make_energy_meter(root)),
      temperatures_(temperature_files(root)) {
    std::set<std::string> packages;
    for (const Core& core : cores) {
        const fs::path cpu =
            root / "sys/devices/system/cpu" / ("cpu" + std::to_string(core.cpus.front()));
        core_throttles_.emplace_back(cpu / "thermal_throttle/core_throttle_count");
        // The package's counter shows the same number on each of its processors.
        const auto package = read_text(cpu / "topology/physical_package_id").value_or("");
        if (packages.insert(package).second) {
            package_throttles_.emplace_back(cpu / "thermal_throttle/package_throttle_count");
        }
    }
    earlier_core_throttles_ = total(core_throttles_).value_or(0);
    earlier_package_throttles_ = total(package_throttles_).value_or(0);
}

std::optional<double> CpuTelemetry::total(const std::vector<CounterFile>& files) {
    std::optional<double> sum;
    for (const CounterFile& file : files) {
        if (const auto value = file.read()) sum = sum.value_or(0) + *value;
    }
    return sum;
}

device::Reading CpuTelemetry::read() {
    device::Reading reading;
    reading.clock_mhz = clock_->read_mhz();
    reading.energy_j = energy_->read_joules();
    reading.t = monotonic_seconds();
    if (reading.energy_j && earlier_energy_j_ && reading.t > earlier_t_) {
        reading.power_w = (*reading.energy_j - *earlier_energy_j_) / (reading.t - earlier_t_);
    }
    earlier_energy_j_ = reading.energy_j;
    earlier_t_ = reading.t;
    for (const CounterFile& file : temperatures_) {
        if (const auto millidegrees = file.read()) {
            reading.temperature_c =
                std::max(reading.temperature_c.value_or(-273), *millidegrees / 1000);
        }
    }
    const auto core = total(core_throttles_);
    const auto package = total(package_throttles_);
    if (core || package) reading.throttled_count = core.value_or(0) + package.value_or(0);
    return reading;
}

std::vector<std::string> CpuTelemetry::throttle_reasons() {
    std::vector<std::string> reasons;
    const auto look = [&](const std::vector<CounterFile>& files, double& earlier,
                          const char* reason) {
        const auto now = total(files);
        if (now && *now > earlier) reasons.emplace_back(reason);
        earlier = now.value_or(earlier);
    };
    look(core_throttles_, earlier_core_throttles_, "core thermal throttling");
    look(package_throttles_, earlier_package_throttles_, "package thermal throttling");
    return reasons;
}

}  // namespace assay::cpu
