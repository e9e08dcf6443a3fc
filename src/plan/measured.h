// What `assay` measured on a device, as rates to plan with.
#pragma once

#include <vector>

#include "catalog/accelerator.h"
#include "plan/rates.h"
#include "record/run.h"
#include "store/store.h"

namespace assay::plan {

// Of one run's results on devices that the catalog knows by `device.name`: products with M, N and K
// of 4096 or more and random inputs, and reads or copies of 256 MiB or more. Sustained ones where
// there are any: plans are of steady work. Middle: the median; ends: the least and the most.
std::vector<Measured> measured_in(const record::Run& run, const catalog::Accelerator& device,
                                  const std::vector<catalog::Accelerator>& accelerators);

// Of the newest runs of the store that have any. Throws as the store does.
std::vector<Measured> measured_on(store::Store& store, const catalog::Accelerator& device,
                                  const std::vector<catalog::Accelerator>& accelerators);

}  // namespace assay::plan
