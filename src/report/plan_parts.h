// What the plan's documents have in common.
#pragma once

#include "base/json.h"
#include "model/layout.h"

namespace assay::report {

Json layout_json(const model::Layout& layout);

}  // namespace assay::report
