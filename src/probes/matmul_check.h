// Is a product right? Sampled elements against double precision, from operands recomputed by
// counter: the buffers themselves are not trusted.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "ops/matmul.h"
#include "probes/matmul_problem.h"
#include "record/result.h"

namespace assay::probes {

// Checks set 0 of RotatingOperands, filled with `seed` and computed before. Samples the corners of
// C and `samples` elements spread over it.
//
// An element c may differ from the reference r by
//   4 sqrt(K) u_acc (|a b|_2 + |r|) + u_out |r|
// with u the unit roundoffs of accumulator and output, and |a b|_2 the norm of the K products: four
// times the root-mean-square error of K random roundings. What the output's type makes of r itself
// is right in any event (saturated or infinite beyond its range), and all that is right for
// integers. GELU, which
// stretches an error by at most 1.13, may add 2^-10 of the output's own scale on top for types
// narrower than fp32, 2^-20 else: the tanh that libraries use is itself an approximation.
record::Check check_matmul(device::Device& device, const MatmulCase& matmul,
                           const ops::MatmulOperands& operands, std::uint64_t seed,
                           int samples = 48);

// The reference itself: element (row, column) of product `item` of the batch.
struct ReferenceElement {
    double value = 0;
    double tolerance = 0;
};
ReferenceElement reference_element(const MatmulCase& matmul, std::uint64_t seed, std::int64_t item,
                                   std::int64_t row, std::int64_t column);

}  // namespace assay::probes
