#include "cpu/energy_meter.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

namespace assay::cpu {
namespace {

namespace fs = std::filesystem;

// Package zones; cores and memory have zones of their own inside them.
class PowercapMeter : public EnergyMeter {
  public:
    explicit PowercapMeter(const fs::path& root) {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(root / "sys/class/powercap", none)) {
            const fs::path& zone = entry.path();
            if (!read_text(zone / "name").value_or("").starts_with("package-")) continue;
            found_ = true;
            CounterFile file(zone / "energy_uj");
            if (!file.read()) continue;
            zones_.push_back(
                {std::move(file),
                 WrappingCounter(read_number(zone / "max_energy_range_uj").value_or(0))});
        }
        read_joules();
    }

    bool found() const { return found_; }
    bool readable() const { return !zones_.empty(); }

    std::optional<double> read_joules() override {
        double microjoules = 0;
        for (Zone& zone : zones_) {
            const auto reading = zone.file.read();
            if (!reading) return std::nullopt;
            microjoules += zone.counter.add(*reading);
        }
        return microjoules / 1e6;
    }
    std::string source() const override { return "powercap: RAPL package zones"; }

  private:
    struct Zone {
        CounterFile file;
        WrappingCounter counter;
    };
    bool found_ = false;
    std::vector<Zone> zones_;
};

// One counter a package, on the processors that the event's cpumask names.
class PerfEnergyMeter : public EnergyMeter {
  public:
    explicit PerfEnergyMeter(const fs::path& root) {
        const fs::path power = root / "sys/bus/event_source/devices/power";
        const auto type = read_number(power / "type");
        const auto event = read_text(power / "events/energy-pkg");  // "event=0x02"
        const auto scale = read_number(power / "events/energy-pkg.scale");
        if (!type || !event || !scale || !event->starts_with("event=")) return;
        joules_per_count_ = *scale;
        perf_event_attr attributes{};
        attributes.size = sizeof attributes;
        attributes.type = static_cast<std::uint32_t>(*type);
        attributes.config = std::strtoull(event->c_str() + std::strlen("event="), nullptr, 0);
        for (const std::string& cpu : split(read_text(power / "cpumask").value_or(""), ',')) {
            const auto file = syscall(SYS_perf_event_open, &attributes, -1,
                                      static_cast<int>(leading_number(cpu).value_or(-1)), -1,
                                      PERF_FLAG_FD_CLOEXEC);
            if (file >= 0) files_.push_back(static_cast<int>(file));
        }
    }
    ~PerfEnergyMeter() override {
        for (int file : files_) ::close(file);
    }
    PerfEnergyMeter(const PerfEnergyMeter&) = delete;
    PerfEnergyMeter& operator=(const PerfEnergyMeter&) = delete;

    bool readable() const { return !files_.empty(); }

    std::optional<double> read_joules() override {
        double counts = 0;
        for (int file : files_) {
            std::uint64_t value = 0;
            if (::read(file, &value, sizeof value) != sizeof value) return std::nullopt;
            counts += static_cast<double>(value);
        }
        return counts * joules_per_count_;
    }
    std::string source() const override { return "perf: power/energy-pkg"; }

  private:
    double joules_per_count_ = 0;
    std::vector<int> files_;
};

class NoMeter : public EnergyMeter {
  public:
    explicit NoMeter(std::string why) : why_(std::move(why)) {}
    std::optional<double> read_joules() override { return std::nullopt; }
    std::string source() const override { return "unavailable: " + why_; }

  private:
    std::string why_;
};

bool moves(EnergyMeter& meter, const std::function<void()>& pause) {
    const auto before = meter.read_joules();
    pause();
    const auto after = meter.read_joules();
    return before && after && *after > *before;
}

}  // namespace

double WrappingCounter::add(double reading) {
    if (last_) total_ += reading >= *last_ ? reading - *last_ : reading - *last_ + range_;
    last_ = reading;
    return total_;
}

void energy_pause() {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

std::unique_ptr<EnergyMeter> make_energy_meter(const fs::path& root,
                                               const std::function<void()>& pause) {
    auto powercap = std::make_unique<PowercapMeter>(root);
    auto perf = std::make_unique<PerfEnergyMeter>(root);
    if (powercap->readable() && moves(*powercap, pause)) return powercap;
    if (perf->readable() && moves(*perf, pause)) return perf;
    if (powercap->readable() || perf->readable()) {
        return std::make_unique<NoMeter>("the RAPL counter stands still");
    }
    if (powercap->found()) {
        return std::make_unique<NoMeter>("RAPL's energy_uj can't be read: needs root");
    }
    return std::make_unique<NoMeter>("the system shows no RAPL (powercap, perf power/energy-pkg)");
}

}  // namespace assay::cpu
