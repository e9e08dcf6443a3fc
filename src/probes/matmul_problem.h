// A matrix product as a case, and back.
#pragma once

#include <string>

#include "record/case.h"
#include "work/fill.h"
#include "work/matmul.h"
#include "work/shapes.h"

namespace assay::probes {

enum class CacheState { cold, hot };
// The library's own choice, or the fastest of what it can run.
enum class Algorithm { heuristic, tuned };

struct MatmulCase {
    work::Matmul problem;
    work::Distribution inputs = work::Distribution::normal;
    CacheState cache = CacheState::cold;
    Algorithm algorithm = Algorithm::heuristic;
    std::string layer;  // shown, not part of the identity
};

record::Case to_case(const MatmulCase& matmul);
// Throws Error for a pair that is missing or malformed.
MatmulCase matmul_from_case(const record::Case& what);

CacheState parse_cache_state(std::string_view word);  // throws UsageError
Algorithm parse_algorithm(std::string_view word);     // throws UsageError

}  // namespace assay::probes
