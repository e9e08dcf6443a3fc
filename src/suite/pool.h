// Launches of the same case put together.
#pragma once

#include "record/result.h"

namespace assay::suite {

// Adds the launches, checks and conditions of `more` to `result` and computes its metrics anew. A
// failed launch makes the whole failed, with its reason; a skipped one leaves it skipped.
void pool(record::Result& result, const record::Result& more);

}  // namespace assay::suite
