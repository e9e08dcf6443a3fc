// Clock, energy, temperature and throttling of the processor, where the machine shows them.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "cpu/clock_meter.h"
#include "cpu/energy_meter.h"
#include "cpu/sysfs.h"
#include "cpu/topology.h"
#include "device/telemetry.h"

namespace assay::cpu {

class CpuTelemetry : public device::Telemetry {
  public:
    // Made before the threads whose clock it shall tell.
    explicit CpuTelemetry(const std::vector<Core>& cores, const std::filesystem::path& root = "/");

    // power_w is the mean since the last reading: RAPL counts energy only.
    device::Reading read() override;
    // Those whose counter rose since the last call.
    std::vector<std::string> throttle_reasons() override;
    std::string clock_source() const override { return clock_->source(); }
    std::string power_source() const override { return energy_->source(); }

  private:
    // Sum of a counter over the files that can be read; empty when there is none.
    static std::optional<double> total(const std::vector<CounterFile>& files);

    std::unique_ptr<ClockMeter> clock_;
    std::unique_ptr<EnergyMeter> energy_;
    std::vector<CounterFile> core_throttles_, package_throttles_, temperatures_;
    std::optional<double> earlier_energy_j_;
    double earlier_t_ = 0;
    double earlier_core_throttles_ = 0, earlier_package_throttles_ = 0;
};

}  // namespace assay::cpu
