#include "probes/attention_tolerance.h"

#include <cmath>

namespace assay::probes {

double tolerance_of(work::Type type) {
    switch (type) {
        case work::Type::fp64:
            return 1e-12;
        case work::Type::fp32:
            return 1e-5;
        case work::Type::fp16:
            return 2e-3;
        default:
            return 1e-2;
    }
}

// Of an element, whatever its size: what is smaller, or comes of weights smaller, is lost to the
// type's least exponent.
double least_of(work::Type type) {
    return type == work::Type::fp64 ? 0x1p-960 : type == work::Type::fp16 ? 0x1p-24 : 0x1p-100;
}

double lse_tolerance_of(work::Type type) {
    return type == work::Type::fp64 ? 1e-6 : type == work::Type::fp32 ? 1e-4 : 1e-3;
}

// What rounding may leave of terms that cancel; attention_check.h says how much.
double remainder_of(const AttentionCase& attention, const work::TermSizes& terms) {
    const auto type = attention.problem.type;
    if (attention.inputs == work::Distribution::ones) return tolerance_of(type) * terms.sum;
    return (type == work::Type::fp64 ? 0x1p-48 : 0x1p-20) * std::sqrt(terms.squares);
}

}  // namespace assay::probes
