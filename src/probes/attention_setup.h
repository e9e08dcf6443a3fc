// What measuring attention needs whichever provider runs it: tensors, references, and for the
// backward pass what the forward one gave.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "measure/stream_subject.h"
#include "ops/attention.h"
#include "probes/attention_check.h"
#include "probes/attention_operands.h"
#include "probes/attention_problem.h"
#include "probes/probe.h"

namespace assay::probes {

class AttentionSetup {
  public:
    // With `inner`, all beyond it is zeros (attention_operands.h). `effort` as for the checker.
    // Throws Unsupported where the device has no room.
    AttentionSetup(const AttentionCase& attention, Bench& bench,
                   const work::Attention* inner = nullptr, double effort = 1);
    // One of the cases that take turns in shared memory.
    AttentionSetup(const AttentionCase& attention, Bench& bench, const SharedAttention& shared,
                   double effort);
    AttentionSetup(const AttentionSetup&) = delete;
    AttentionSetup& operator=(const AttentionSetup&) = delete;

    // Of a backward case: fills o and lse of every set by the first of `providers` that takes the
    // forward pass, or where none does, by the device's own choice. False when they are wrong: the
    // check "forward answer" of `result` then says how. Nothing to do for a forward case.
    bool make_outputs(const std::vector<std::string>& providers, record::Result& result);

    // Runs it on set 0, poisoned before, and checks what it gave.
    record::Check answer(ops::PreparedAttention& prepared, std::string name);
    // Checks set 0 as it is.
    record::Check answer_as_it_is(std::string name);
    void poison();

    std::unique_ptr<measure::StreamSubject> subject(std::string name,
                                                    ops::PreparedAttention& prepared,
                                                    std::function<void()> clear = {});

    const AttentionCase& attention() const { return attention_; }
    const RotatingAttention& operands() const { return operands_; }

  private:
    AttentionCase attention_;
    Bench& bench_;
    RotatingAttention operands_;
    AttentionChecker checker_;
};

// One way to the case's pass, ready to run.
struct OpenProvider {
    std::string name;
    std::unique_ptr<ops::PreparedAttention> prepared;
};

// Those that a case asks for: its one, or all of the device's. Throws Unsupported for a name that
// the device doesn't have.
std::vector<std::string> providers_of(const AttentionCase& attention, ops::Attention& op,
                                      const device::Device& device);

// Those of `names` that take the case and give a right answer. Others stand in the settings "left
// out", and "wrong algorithms" for a wrong answer; a check "answer NAME" is added for each that
// ran, but for wrong ones only where no other is right. Throws Unsupported with every reason where
// all refuse.
std::vector<OpenProvider> open_providers(AttentionSetup& setup,
                                         const std::vector<std::string>& names, Bench& bench,
                                         record::Result& result);

// Seconds of each alternative by round, of all launches together; alternatives that a launch lacks
// are left out. They are the samples whose names start with `prefix`, which is taken off.
std::map<std::string, std::vector<double>> alternatives_of(
    const std::vector<record::Launch>& launches, std::string_view prefix);

// "time ratio of NAME" of each alternative over the fastest.
std::vector<record::Metric> ratio_metrics(
    const std::map<std::string, std::vector<double>>& alternatives);

}  // namespace assay::probes
