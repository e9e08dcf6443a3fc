// The waterfalls of a run as lines of text.
#pragma once

#include <string>

#include "judge/waterfall.h"

namespace assay::report {

// "gemm m=8192 ... sustained / boost: 1.170 = clock 1.184 (power) x cycles 0.988 x gaps 1.000"
std::string waterfall_text(const judge::Waterfall& waterfall);

}  // namespace assay::report
