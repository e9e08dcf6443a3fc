// Warming up until the rate no longer changes.
#pragma once

#include "measure/protocol.h"
#include "measure/runner.h"

namespace assay::measure {

struct Settling {
    bool settled = false;
    double seconds = 0;  // host time it took
};

// Runs the subject back to back until the medians of three successive windows agree: the largest is
// at most the protocol's tolerance above the smallest. Gives up before a window that would end
// beyond the limit, and when interrupted. Throughput decides, not a clock reading: vendors' clocks
// lag, and many machines show none. A window holds at least one sample, however long.
Settling settle(Runner& runner, Clock& clock, const Protocol& protocol);

}  // namespace assay::measure
