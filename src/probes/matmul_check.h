// Is a product right? Sampled elements against double precision, from operands recomputed by
// counter: the buffers themselves are not trusted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.h"
#include "ops/matmul.h"
#include "probes/matmul_problem.h"
#include "record/result.h"

namespace assay::probes {

// The reference: element (row, column) of product `item` of the batch.
struct ReferenceElement {
    double value = 0;
    double tolerance = 0;
};
ReferenceElement reference_element(const MatmulCase& matmul, std::uint64_t seed, std::int64_t item,
                                   std::int64_t row, std::int64_t column);

// Looks at the corners of C and `samples` elements spread over it; their references are computed
// once, for any number of answers to the same product.
//
// An element c may differ from the reference r, C's scales included, by
//   4 sqrt(K) u (|a b| + |r|) + u_out |r|
// with u the unit roundoffs of accumulator and output, and |a b| the Euclidean norm of the K
// products: four times the root-mean-square error of K random roundings. What the output's type
// makes of r itself is right in any event (saturated or infinite beyond its range), and all that is
// right for integers.
//
// Matrix units add some products at a time and cut the sum off instead of rounding it (Fasi et al.,
// PeerJ Computer Science 7:e330, 2021), which always errs towards 0: products of 8 at a time, the
// fewest, may take K/8 u |r| more. Those of fp8 cut off at 14 bits (DeepSeek-V3, arXiv 2412.19437,
// 3.3.2; "fast"), 32 products at a time: with v = 2^-13 for the place that is cut,
//   fast:  (4 sqrt(K) + K/32) v (|a b| + |r|) more
//   exact: sums of 128 products are kept so, then promoted: 4 sqrt(K) v |a b| sqrt(128 / K) more.
//
// An epilogue may find the product rounded to the output's type already: cuBLASLt 13.1 has kernels
// for odd sizes that apply it in a pass of its own. That is u_out |product| more. GELU, which
// stretches an error by at most 1.13, may add 2^-10 of the output's own scale on top for types
// narrower than fp32, 2^-16 else: the tanh that libraries use is itself an approximation.
//
// Sums that an accumulator can't hold are wrong answers here too: more than 65,504 ones in fp16, or
// 2^14 ones in fast fp8, where one more finds no place.
class MatmulChecker {
  public:
    // For set 0 of RotatingOperands, filled with `seed`.
    MatmulChecker(const MatmulCase& matmul, std::uint64_t seed, int samples = 48);

    // Writes into each element that is looked at what no product gives, so that an answer computed
    // before doesn't stand in for one that wasn't.
    void poison(device::Device& device, const ops::MatmulOperands& operands) const;
    record::Check check(device::Device& device, const ops::MatmulOperands& operands) const;

  private:
    struct Element {
        std::uint64_t index;  // in C of the whole batch
        ReferenceElement expected;
    };

    std::string fault_of(const Element& element, double got) const;

    work::Matmul problem_;
    std::vector<Element> elements_;
};

// One answer, computed before.
record::Check check_matmul(device::Device& device, const MatmulCase& matmul,
                           const ops::MatmulOperands& operands, std::uint64_t seed,
                           int samples = 48);

}  // namespace assay::probes
