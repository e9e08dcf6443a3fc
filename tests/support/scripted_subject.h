// A subject whose calls take the time that a script says, on a fake clock.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "measure/subject.h"
#include "support/fake_clock.h"

namespace assay::measure {

class ScriptedSubject final : public Subject {
  public:
    // Seconds that call number `call`, counted from 0, takes when it starts at `time` s after the
    // subject was made.
    using Script = std::function<double(std::size_t call, double time)>;

    // The timer moves in steps of `tick` seconds; 0: it is exact.
    ScriptedSubject(FakeClock& clock, Script script, double tick = 0, std::string name = "scripted")
        : clock_(clock),
          script_(std::move(script)),
          tick_(tick),
          name_(std::move(name)),
          born_(clock.now()) {}

    struct Run {
        double start, end;  // s, by the clock
        std::size_t samples;
        int calls_per_sample;
    };
    std::vector<Run> runs;
    std::vector<double> clears;  // when
    double clear_s = 0;          // what a clearing takes
    // The clock of a sample that starts at `time`, as the script's; none: no clocks.
    std::function<double(double time)> clock_script;

    std::size_t calls() const { return calls_; }

    std::string name() const override { return name_; }
    double resolution() const override { return tick_; }
    std::span<const double> clock_mhz() const override { return clock_mhz_; }
    void clear_caches() override {
        clears.push_back(clock_.now());
        clock_.advance(clear_s);
    }
    void run(std::span<double> seconds, int calls_per_sample) override {
        const double start = clock_.now();
        clock_mhz_.clear();
        for (double& sample : seconds) {
            const double before = clock_.now();
            if (clock_script) clock_mhz_.push_back(clock_script(before - born_));
            for (int i = 0; i < calls_per_sample; ++i) {
                clock_.advance(script_(calls_++, clock_.now() - born_));
            }
            sample = (read(clock_.now()) - read(before)) / calls_per_sample;
        }
        runs.push_back({start, clock_.now(), seconds.size(), calls_per_sample});
    }

  private:
    double read(double time) const { return tick_ > 0 ? std::floor(time / tick_) * tick_ : time; }

    FakeClock& clock_;
    Script script_;
    double tick_;
    std::string name_;
    double born_;
    std::size_t calls_ = 0;
    std::vector<double> clock_mhz_;
};

// Always the same.
inline ScriptedSubject::Script constant(double seconds) {
    return [=](std::size_t, double) { return seconds; };
}

// Normal noise around `seconds` of relative standard deviation `noise`, each value carrying `rho`
// of the deviation of the one before: AR(1).
inline ScriptedSubject::Script noisy(double seconds, double noise, double rho = 0,
                                     unsigned seed = 1) {
    return [=, random = std::mt19937_64(seed), normal = std::normal_distribution<>(),
            deviation = 0.0](std::size_t, double) mutable {
        deviation = rho * deviation + std::sqrt(1 - rho * rho) * normal(random);
        return seconds * (1 + noise * deviation);
    };
}

}  // namespace assay::measure
