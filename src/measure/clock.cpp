#include "measure/clock.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/interrupt.h"
#include "base/time.h"

namespace assay::measure {

double SteadyClock::now() {
    return monotonic_seconds();
}

void SteadyClock::sleep(double seconds) {
    // The signal may reach another thread than this one: look at the flag between short sleeps.
    constexpr double kLongestSleep = 0.02;
    const double end = now() + seconds;
    for (double left = seconds; left > 0 && !interrupted(); left = end - now()) {
        std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, kLongestSleep)));
    }
}

}  // namespace assay::measure
