#include "measure/runner.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "measure/calibrate.h"

namespace assay::measure {

Runner::Runner(Subject& subject, Clock& clock, bool clear_between)
    : subject_(subject), clock_(clock), clear_between_(clear_between) {
    const Calibration calibration = calibrate(subject, clock);
    calls_per_sample_ = clear_between ? 1 : calibration.calls_per_sample;
    sample_s_ = calibration.sample_s;
    if (clear_between) {  // clearing can take ten thousand times as long as the call
        std::vector<double> unrecorded;
        append(unrecorded, 1);
    }
}

void Runner::append(std::vector<double>& seconds, std::size_t count,
                    std::vector<double>* clock_mhz) {
    const auto run = [&](std::span<double> samples) {
        subject_.run(samples, calls_per_sample_);
        if (clock_mhz == nullptr) return;
        const auto clocks = subject_.clock_mhz();
        clock_mhz->insert(clock_mhz->end(), clocks.begin(), clocks.end());
    };
    const std::size_t before = seconds.size();
    seconds.resize(before + count);
    const auto fresh = std::span(seconds).subspan(before);

    const double start = clock_.now();
    if (clear_between_) {
        for (double& sample : fresh) {
            subject_.clear_caches();
            run({&sample, 1});
        }
    } else {
        run(fresh);
    }
    sample_s_ = (clock_.now() - start) / static_cast<double>(count);

    for (const double sample : fresh) {
        if (std::isfinite(sample) && sample >= 0) continue;
        throw Error(subject_.name() + ": the timer gave " + exact_number(sample) + " s",
                    "the device's event timer can't be trusted: `assay selftest` examines it");
    }
}

std::size_t Runner::fitting(double seconds) const {
    constexpr double kMost = 10'000;
    if (seconds <= 0) return 0;
    // A clock that stood still says nothing; the quotient is then infinite, and the most it is.
    return static_cast<std::size_t>(std::min(kMost, seconds / sample_s_));
}

void warm_up(Runner& runner, Clock& clock, double seconds) {
    std::vector<double> unrecorded;
    const double end = clock.now() + seconds;
    for (double left = seconds; left > 0 && !interrupted(); left = end - clock.now()) {
        unrecorded.clear();
        runner.append(unrecorded, std::max<std::size_t>(1, runner.fitting(left)));
    }
}

}  // namespace assay::measure
