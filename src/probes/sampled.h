// From a sampling to the records of a result: the same for every probe.
#pragma once

#include "device/device.h"
#include "measure/sampler.h"
#include "ops/operation.h"
#include "probes/probe.h"
#include "record/result.h"

namespace assay::probes {

// Says which implementation runs: in the result, and to the bench's about_to_run.
void describe(const ops::Implementation& implementation, const Bench& bench,
              record::Result& result);

// Samples `subject` under the bench's protocol and appends the launch, with the conditions that
// were seen meanwhile; the energy of a call only where calls run back to back, else why not
// ("energy" in the settings). "gap_s" there is a call's share of what timing puts between two
// samples. `footprint_bytes` is what the operands of `operand_sets` sets take.
void sample_into(measure::Subject& subject, Bench& bench, std::uint64_t footprint_bytes,
                 int operand_sets, record::Result& result);

}  // namespace assay::probes
