// What the judge looks at: one run, the promises of its devices and what others published.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "catalog/promise.h"
#include "catalog/published.h"
#include "record/run.h"

namespace assay::judge {

struct Evidence {
    const record::Run& run;
    std::map<std::string, catalog::Promises> promises;  // by device id
    std::vector<catalog::Published> published;
    std::string published_problem;  // why there are none, where their file is broken
};

// Reads the promises of every device in the run's provenance, and the published figures.
Evidence gather(const record::Run& run);

}  // namespace assay::judge
