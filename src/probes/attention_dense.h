// What a mask saves: the same attention without it, interleaved.
#pragma once

#include <functional>
#include <optional>

#include "probes/attention_setup.h"

namespace assay::probes {

// Rounds of `masked` and of the same shape with a full mask by the provider of that name, or where
// it refuses by another, for at most 3 s or half of the case's limit; samples "masked" and
// "dense" of the launch. Where the device has no room for both, or no provider takes it, the
// setting "dense" says why, and so it does of a mask that leaves out nothing; where its answer is
// wrong, a check.
void measure_against_dense(AttentionSetup& setup, const OpenProvider& masked,
                           const std::function<void()>& clear, Bench& bench,
                           record::Result& result);

// "speed-up over dense"; none where the launches don't hold both.
std::optional<record::Metric> dense_metric(const record::Result& result);

}  // namespace assay::probes
