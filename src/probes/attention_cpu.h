// Whether the accelerator is worth it: the same attention on this host's CPU, interleaved.
#pragma once

#include <functional>
#include <vector>

#include "probes/attention_setup.h"

namespace assay::probes {

// Rounds of `chosen` and of the same problem, with operands of its own, on this host's CPU, for at
// most 3 s or half of the case's limit; samples "accelerator" and "cpu" of the launch, the settings
// "cpu" and "cpu by". Neither is in the power state of the protocol: each rests while the other
// computes. Where the CPU can't, or is expected to take too long, the setting "against cpu" says
// why, and where its answer is wrong, a check.
void measure_against_cpu(AttentionSetup& setup, const OpenProvider& chosen,
                         const std::function<void()>& clear, Bench& bench, record::Result& result);

// "speed-up over this host's CPU" and "throughput of this host's CPU"; none where the launches
// don't hold both.
std::vector<record::Metric> cpu_metrics(const record::Result& result);

}  // namespace assay::probes
