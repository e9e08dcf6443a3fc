// How much energy the processor's packages have used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu/sysfs.h"

namespace assay::cpu {

// A counter that goes back to 0 after `range`.
class WrappingCounter {
  public:
    explicit WrappingCounter(double range) : range_(range) {}
    // The total since the first reading.
    double add(double reading);

  private:
    double range_;
    std::optional<double> last_;
    double total_ = 0;
};

class EnergyMeter {
  public:
    virtual ~EnergyMeter() = default;
    // J of all packages since the meter was made; empty where none can be read.
    virtual std::optional<double> read_joules() = 0;
    virtual std::string source() const = 0;
};

// RAPL through powercap (package zones of sys/class/powercap), else through perf's event
// power/energy-pkg; else a meter whose source says why neither can be read. A counter that stands
// still over `pause`, as virtual machines show it, is none.
void energy_pause();  // 5 ms: RAPL counts every millisecond
std::unique_ptr<EnergyMeter> make_energy_meter(const std::filesystem::path& root = "/",
                                               const std::function<void()>& pause = energy_pause);

}  // namespace assay::cpu
