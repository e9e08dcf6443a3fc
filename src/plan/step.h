// The time of one forward step on one stage's devices: a roofline for each kind of layer.
//
// Of a layer and a device, with what the layout leaves it (model/layout.h):
//   products    max(2 x parameters x tokens / product rate, bytes of the weights / memory)
//   experts     the same with the parameters that top_k of the experts have, at the rate of grouped
//               products, and the bytes of the experts that the tokens are expected to reach,
//               E (1 - (1 - k/E)^tokens)
//   attention   max(FLOP / attention's rate, cache read / memory), by model/flop.h: a causal prompt
//               with its windows, or decode, where a latent cache is worked on as it is
//               (DeepSeek-V2, arXiv 2405.04434); heads are those of a rank with its padding
//   recurrence  max(FLOP of the state / the recurrence's rate, state read and written / memory)
//   collectives tensor parallel: an all_reduce of tokens x hidden x 2 bytes after the mixer and
//               after the feed-forward; experts beyond the tensor group: all_to_all there and back
//               of tokens x top_k x their input width x 2 bytes in place of the second
//   overhead    a constant for each half layer
// Parts of a step add up: nothing is assumed to overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/holdings.h"
#include "model/layout.h"
#include "model/memory.h"
#include "plan/rates.h"

namespace assay::plan {

// What a model asks of any step, worked out once: layers of one kind together.
class StepModel {
  public:
    // All three outlive it. `use`: types of cache and states.
    StepModel(const model::Model& model, const model::Holdings& holdings, const model::Use& use);

    struct Group {
        const model::Layer* layer;
        const model::HeldLayer* held;
        std::vector<std::size_t> indexes;  // in the model, rising
    };
    const model::Holdings& holdings() const { return holdings_; }
    const model::Use& use() const { return use_; }
    const std::vector<Group>& groups() const { return groups_; }
    // Formats of the weights' larger part: of experts, and of all other matrices.
    const std::string& expert_format() const { return expert_format_; }
    const std::string& plain_format() const { return plain_format_; }

  private:
    const model::Holdings& holdings_;
    const model::Use& use_;
    std::vector<Group> groups_;
    std::string plain_format_, expert_format_;
};

// Sequences of one replica that go through a stage together.
struct Batch {
    double sequences = 1;
    double new_tokens = 1;    // of each
    double context = 0;       // tokens of each before them
    bool all_logits = false;  // of every new token, as verifying drafts does; else of the last
    bool samples = true;      // logits are gathered over the vocabulary's ranks; a loss needs none
    bool absorbed = true;     // attention on the latent itself: decode
    double tokens() const { return sequences * new_tokens; }
};

// Seconds.
struct StepTime {
    double products = 0, experts = 0, attention = 0, recurrence = 0, collectives = 0, overhead = 0;
    // Of the whole, what reading memory sets, not the arithmetic.
    double memory_bound = 0;

    double total() const {
        return products + experts + attention + recurrence + collectives + overhead;
    }
    StepTime& operator+=(const StepTime& other);
};

// The types that a device multiplies these weights in.
struct ComputeTypes {
    std::string plain, experts;
};
ComputeTypes compute_types(const StepModel& model, const Rates& rates);

StepTime stage_time(const StepModel& model, const model::Layout& layout, int stage,
                    const Batch& batch, const Speeds& speeds, const ComputeTypes& types);

// Through all stages, with what goes from each to the next.
StepTime pipeline_time(const StepModel& model, const model::Layout& layout, const Batch& batch,
                       const Speeds& speeds, const ComputeTypes& types);
// Of the slowest stage, with what it sends on: what a full pipeline gives a batch in.
double slowest_stage(const StepModel& model, const model::Layout& layout, const Batch& batch,
                     const Speeds& speeds, const ComputeTypes& types);

}  // namespace assay::plan
