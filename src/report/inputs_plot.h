// What the operands' values do to speed, clock and power, as a plot of text.
#pragma once

#include <string>

#include "record/run.h"

namespace assay::report {

// One block for each set of ok results of `probe` on `device` that differ in "inputs" alone, the
// protocol being the same, where there are two distributions or more; "" where there is none. One
// row a distribution, in the run's order: a bar of the first metric that is better when higher,
// its value, the clock in MHz and the power in W where they were read.
std::string inputs_plot(const record::Run& run, const std::string& probe,
                        const std::string& device);

}  // namespace assay::report
