// How far from double precision attention's answers may lie; attention_check.h says in words.
#pragma once

#include "probes/attention_problem.h"
#include "work/attention_oracle.h"

namespace assay::probes {

// A share of the Euclidean norm of o or of a gradient.
double tolerance_of(work::Type type);
// Of an element, whatever its size: what is smaller, or comes of weights smaller, is lost to the
// type's least exponent.
double least_of(work::Type type);
// Of lse, times max(1, |lse|).
double lse_tolerance_of(work::Type type);
// What rounding may leave of terms that cancel.
double remainder_of(const AttentionCase& attention, const work::TermSizes& terms);

}  // namespace assay::probes
