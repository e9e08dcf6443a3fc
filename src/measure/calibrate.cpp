#include "measure/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/units.h"

namespace assay::measure {
namespace {

constexpr int kMostCalls = 1'000'000;

// No first use is so dear that a call shorter than 100 ticks takes this long (opening a vendor's
// library takes half of it), and a second call of a long one would cost a good part of its limit.
constexpr double kLongCall = 1.0;

struct Timed {
    double device_s;  // shortest sample
    double host_s;    // mean sample
};

Timed time_samples(Subject& subject, Clock& clock, std::span<double> seconds, int calls) {
    const double start = clock.now();
    subject.run(seconds, calls);
    const double host_s = (clock.now() - start) / static_cast<double>(seconds.size());
    return {*std::ranges::min_element(seconds) * calls, host_s};
}

}  // namespace

Calibration calibrate(Subject& subject, Clock& clock) {
    const double target = kTicksPerSample * subject.resolution();
    std::array<double, 3> seconds{};
    const auto one = std::span(seconds).first(1);

    Timed timed = time_samples(subject, clock, one, 1);
    if (timed.device_s >= kLongCall) return {1, timed.host_s};
    timed = time_samples(subject, clock, one, 1);
    if (timed.device_s >= 10 * target) return {1, timed.host_s};

    // Near the target one sample isn't enough: an interruption would make it look long enough.
    for (int calls = 1;;) {
        timed = time_samples(subject, clock, seconds, calls);
        if (timed.device_s >= target) return {calls, timed.host_s};
        if (calls == kMostCalls) {
            throw Error(subject.name() + ": a million calls take " +
                            format_seconds(timed.device_s) + " on a timer of " +
                            format_seconds(subject.resolution()),
                        "the call does nothing that can be timed: measure a larger size");
        }
        // Below ten ticks the time doesn't tell yet how many calls it takes.
        const double growth = timed.device_s < target / 10 ? 10.0 : 1.1 * target / timed.device_s;
        calls = static_cast<int>(std::min<double>(kMostCalls, std::ceil(calls * growth)));
    }
}

}  // namespace assay::measure
