#include "cpu/clock_meter.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/time.h"

namespace assay::cpu {
namespace {

// A counter of this thread and of the threads it starts after this.
class PerfCounter {
  public:
    PerfCounter(std::uint32_t type, std::uint64_t config, bool user_only) {
        perf_event_attr attributes{};
        attributes.size = sizeof attributes;
        attributes.type = type;
        attributes.config = config;
        attributes.inherit = 1;
        attributes.exclude_kernel = user_only ? 1 : 0;
        attributes.exclude_hv = 1;
        file_ = static_cast<int>(
            syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    }
    ~PerfCounter() {
        if (file_ >= 0) ::close(file_);
    }
    PerfCounter(const PerfCounter&) = delete;
    PerfCounter& operator=(const PerfCounter&) = delete;

    bool open() const { return file_ >= 0; }
    std::uint64_t read() const {
        std::uint64_t value = 0;
        return ::read(file_, &value, sizeof value) == sizeof value ? value : 0;
    }

  private:
    int file_;
};

class PerfMeter : public ClockMeter {
  public:
    explicit PerfMeter(bool user_only)
        : user_only_(user_only),
          cycles_(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, user_only),
          error_(errno),
          time_(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, user_only) {}

    bool open() const { return cycles_.open() && time_.open(); }
    int error() const { return error_; }

    std::optional<double> read_mhz() override {
        const std::uint64_t cycles = cycles_.read();
        const std::uint64_t time = time_.read();
        const auto counted = static_cast<double>(cycles - earlier_cycles_);
        const auto nanoseconds = static_cast<double>(time - earlier_time_);
        const bool first = earlier_time_ == 0;
        earlier_cycles_ = cycles;
        earlier_time_ = time;
        if (first || counted <= 0 || nanoseconds <= 0) return std::nullopt;
        return counted / nanoseconds * 1000;
    }
    std::string source() const override {
        return user_only_ ? "perf: cpu-cycles:u over task-clock (low by the kernel's share of time)"
                          : "perf: cpu-cycles over task-clock";
    }

  private:
    bool user_only_;
    PerfCounter cycles_;
    int error_;
    PerfCounter time_;
    std::uint64_t earlier_cycles_ = 0, earlier_time_ = 0;
};

#if defined(__x86_64__)
// A 64-bit multiply takes 3 cycles on Intel cores since Nehalem and on AMD's since Zen (Agner Fog,
// Instruction tables, IMUL r64,r64), and each one here waits for the one before.
class MultiplyChainMeter : public ClockMeter {
  public:
    std::optional<double> read_mhz() override {
        constexpr int kMultiplies = 3200;
        constexpr double kCycles = 3.0 * kMultiplies;
        // An interrupt only lengthens a try.
        double shortest = 1;
        for (int attempt = 0; attempt < 8; ++attempt) {
            std::uint64_t product = 3;
            const double start = monotonic_seconds();
            for (int i = 0; i < kMultiplies / 16; ++i) {
                __asm__ volatile(".rept 16\n\timulq %0, %0\n\t.endr" : "+r"(product) : : "cc");
            }
            shortest = std::min(shortest, monotonic_seconds() - start);
        }
        return kCycles / shortest / 1e6;
    }
    std::string source() const override {
        return "multiply chain on the first core, between samples";
    }
};
#endif

class NoMeter : public ClockMeter {
  public:
    explicit NoMeter(std::string why) : why_(std::move(why)) {}
    std::optional<double> read_mhz() override { return std::nullopt; }
    std::string source() const override { return "unavailable: " + why_; }

  private:
    std::string why_;
};

}  // namespace

std::unique_ptr<ClockMeter> make_multiply_chain_meter() {
#if defined(__x86_64__)
    return std::make_unique<MultiplyChainMeter>();
#else
    return nullptr;
#endif
}

std::unique_ptr<ClockMeter> make_clock_meter() {
    auto perf = std::make_unique<PerfMeter>(false);
    if (perf->open()) return perf;
    // What the system lets an unprivileged user count.
    perf = std::make_unique<PerfMeter>(true);
    if (perf->open()) return perf;
    if (auto chain = make_multiply_chain_meter()) return chain;
    return std::make_unique<NoMeter>(std::string("perf_event_open: ") +
                                     std::strerror(perf->error()));
}

}  // namespace assay::cpu
