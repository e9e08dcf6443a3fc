#include "measure/settle.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/interrupt.h"
#include "stats/quantile.h"

namespace assay::measure {
namespace {

// The median of a window's samples.
double run_window(Runner& runner, Clock& clock, double window_s, std::vector<double>& samples) {
    samples.clear();
    const double end = clock.now() + window_s;
    do {
        // In parts, so that an interruption needn't wait for the whole.
        const double part_s = std::min(window_s / 5, end - clock.now());
        runner.append(samples, std::max<std::size_t>(1, runner.fitting(part_s)));
    } while (clock.now() < end && !interrupted());
    return stats::median(samples);
}

}  // namespace

Settling settle(Runner& runner, Clock& clock, const Protocol& protocol) {
    std::vector<double> samples;
    std::array<double, 3> medians;
    medians.fill(std::numeric_limits<double>::infinity());  // agrees with nothing
    const double start = clock.now();

    for (std::size_t window = 0;; ++window) {
        medians[window % medians.size()] =
            run_window(runner, clock, protocol.settle_window_s, samples);
        const double elapsed = clock.now() - start;
        if (interrupted()) return {false, elapsed};

        const auto [smallest, largest] = std::ranges::minmax(medians);
        if (largest <= smallest * (1 + protocol.settle_tolerance)) return {true, elapsed};
        const double next_s = std::max(protocol.settle_window_s, runner.sample_s());
        if (elapsed + next_s > protocol.settle_limit_s) return {false, elapsed};
    }
}

}  // namespace assay::measure
