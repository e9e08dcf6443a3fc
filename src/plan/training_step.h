// How fast a placement trains: the time of a step, what share of the devices' peak that is, and
// what failures leave of it.
//
// Of a micro-batch a stage takes its forward time and twice that backward, and its collectives once
// forward and once backward; once more forward where everything is recomputed. Context parallelism
// gathers keys and values of the sequence, and scatters their gradients. With m micro-batches over
// p stages, (m + p - 1) of those follow each other (one forward, one backward; Narayanan et al.,
// arXiv 2104.04473). Gradients are reduced over a slice's replicas, of spread experts over fewer,
// partly behind the backward pass; ZeRO 3 gathers the weights for each pass of each micro-batch,
// likewise (Rajbhandari et al., arXiv 1910.02054). Then the optimizer reads and writes its states.
// Pipeline and tensor parallelism are exposed whole.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/reliability.h"
#include "plan/serving.h"

namespace assay::plan {

inline constexpr std::int64_t kDevicesOfNode = 8;

struct TrainingLoad {
    std::int64_t sequence = 0;      // tokens
    std::int64_t micro_batch = 1;   // sequences of one replica at a time
    std::int64_t global_batch = 0;  // sequences of a step, over all replicas
    // FLOP of one token, forward and backward, by the formula that MFU is told by.
    double flop_per_token = 0;
    double peak = 0;  // FLOP/s of one device that MFU divides by
    // What failures cost: per 1000 days of kDevicesOfNode devices, whose rate Llama 3's is; seconds
    // to restart and to write a checkpoint.
    double failures = 3.8, restart_s = 600, checkpoint_s = 20;
};

struct TrainingPrediction {
    model::Layout layout;
    std::int64_t devices = 1;
    std::int64_t global_batch = 0, micro_batches = 1;
    Range step_s, tokens_per_s, mfu;  // of all devices
    StepTime forward;                 // of one micro-batch through all stages
    double bubble = 0;                // share of a step in which stages wait for the pipeline
    double reduce_s = 0, optimizer_s = 0;
    Loss loss;             // to failures and checkpoints
    Range tokens_per_day;  // with it
};

// `use`: its training says what the states take. Throws UsageError where the global batch isn't
// whole micro-batches of every replica.
TrainingPrediction predict_training(const StepModel& model, const model::Layout& layout,
                                    const TrainingLoad& load, const Rates& rates);

}  // namespace assay::plan
