// A product by cuBLASLt, ready to run.
#pragma once

#include <memory>
#include <string>

#include "ops/matmul.h"

namespace assay::cuda {

// `algorithm` is a text of to_text(), empty for the heuristic's first. Throws Unsupported where the
// library has none for the problem, or can't run the one asked for.
std::unique_ptr<ops::PreparedMatmul> prepare_lt(const work::Matmul& problem,
                                                const std::string& algorithm, int capability);

}  // namespace assay::cuda
