// What the judge looks at: one run and the promises of its devices.
#pragma once

#include <map>
#include <string>

#include "catalog/promise.h"
#include "record/run.h"

namespace assay::judge {

struct Evidence {
    const record::Run& run;
    std::map<std::string, catalog::Promises> promises;  // by device id
};

// Reads the promises of every device in the run's provenance.
Evidence gather(const record::Run& run);

}  // namespace assay::judge
