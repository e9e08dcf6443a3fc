// Operand values by counter: element i of a stream is a pure function of (seed, stream, i), the
// same bits on every back end, so that a check can recompute any element without the buffer. How
// an element is made, for kernels too: work/element.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "work/type.h"

namespace assay::work {

enum class Distribution {
    normal,   // mean 0, variance 1
    uniform,  // [-1, 1), in steps of 2^-23
    zeros,
    ones,
    ints,  // -2 .. 2, equally likely
};

std::string_view name(Distribution distribution);
Distribution parse_distribution(std::string_view word);  // throws UsageError
std::vector<Distribution> all_distributions();

struct FillSpec {
    Distribution distribution = Distribution::normal;
    std::uint64_t seed = 0;
    std::uint32_t stream = 0;  // one for each operand
};

// The element as the operand's type holds it (after rounding to nearest even), as a double.
// Integer types hold round(32 x) of normal and round(127 x) of uniform, saturated to int8's range;
// tf32 holds fp32 numbers of 10 fraction bits, so that a product rounds no operand; others as they
// are.
double fill_value(const FillSpec& spec, Type type, std::uint64_t index);

// Writes elements [first, first + count) to `out`, which holds `count` elements of `type`.
void fill(const FillSpec& spec, Type type, std::uint64_t first, std::uint64_t count, void* out);

// Reads one element of a buffer as a double.
double load(Type type, const void* data, std::uint64_t index);

// Writes `value` as one element, rounded to nearest even: through fp32 for narrower formats, by
// their rules beyond the range (work/number_format.h); integers saturate, and hold 0 for NaN.
void store(Type type, double value, void* out);

}  // namespace assay::work
