#include "measure/clock.h"

#include <gtest/gtest.h>

#include "base/interrupt.h"

namespace assay::measure {
namespace {

TEST(SteadyClock, SleepsAtLeastAsLongAsAsked) {
    SteadyClock clock;
    const double start = clock.now();
    clock.sleep(0.03);
    EXPECT_GE(clock.now() - start, 0.03);
}

TEST(SteadyClock, AnInterruptionEndsASleep) {
    SteadyClock clock;
    set_interrupted(true);
    const double start = clock.now();
    clock.sleep(3600);
    set_interrupted(false);
    EXPECT_LT(clock.now() - start, 3600);
}

}  // namespace
}  // namespace assay::measure
