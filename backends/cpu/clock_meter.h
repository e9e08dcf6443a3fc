// How fast the cores run.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace assay::cpu {

class ClockMeter {
  public:
    virtual ~ClockMeter() = default;
    // MHz since the last call, or now; empty where this call has none to tell.
    virtual std::optional<double> read_mhz() = 0;
    virtual std::string source() const = 0;
};

// Counts cycles where the system lets it (perf_event_open), on this thread and on those that it
// starts later; else times a chain of multiplies, on x86; else tells why neither is possible.
std::unique_ptr<ClockMeter> make_clock_meter();

// For machines that don't count cycles. The clock of the core that calls, measured in 30 us.
// Only on x86; null elsewhere.
std::unique_ptr<ClockMeter> make_multiply_chain_meter();

}  // namespace assay::cpu
