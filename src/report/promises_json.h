// What the catalog promises of each device of a run, with its sources: for `assay info`.
#pragma once

#include "base/json.h"
#include "record/run.h"

namespace assay::report {

// A list with an object a device. A promise without a value has null, and why in "basis".
Json promises_json(const record::Run& run);

}  // namespace assay::report
