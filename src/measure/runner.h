// Runs samples of one subject and knows their pace, so that a time is met without overshooting.
#pragma once

#include <cstddef>
#include <vector>

#include "measure/clock.h"
#include "measure/subject.h"

namespace assay::measure {

class Runner {
  public:
    // Calibrates. With `clear_between`, caches are cleared before each sample, and a sample is one
    // call: only the first one after the clearing would find them cold. Both must outlive it.
    Runner(Subject& subject, Clock& clock, bool clear_between = false);

    // Appends `count` samples of one call's time, in s; at least one. Throws Error naming the
    // subject when a time is negative or not finite. `clock_mhz` gets as many clocks where the
    // subject has them, and nothing else.
    void append(std::vector<double>& seconds, std::size_t count,
                std::vector<double>* clock_mhz = nullptr);

    // How many samples take `seconds` of host time, by the pace of the last ones; 0 to 10,000.
    std::size_t fitting(double seconds) const;

    int calls_per_sample() const { return calls_per_sample_; }
    double sample_s() const { return sample_s_; }  // host time of one sample, by the last ones
    const Subject& subject() const { return subject_; }

  private:
    Subject& subject_;
    Clock& clock_;
    bool clear_between_;
    int calls_per_sample_;
    double sample_s_;
};

// Runs the subject unrecorded for `seconds` of host time, or until interrupted.
void warm_up(Runner& runner, Clock& clock, double seconds);

}  // namespace assay::measure
