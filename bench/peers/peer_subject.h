// A peer, a long-lived child that answers line by line, as something to measure.
#pragma once

#include <string>

#include "crew/crew.h"
#include "measure/subject.h"

namespace assay::bench {

// The peer's side of the conversation, one JSON object a line:
//   {"do":"prepare", ...the problem}          -> {"type":"done","value":{"about":TEXT}}
//   {"do":"run","samples":N,"calls":C}        -> {"type":"done","value":{"seconds":[...]}}
// where seconds are those of one call, by the peer's own clock, nothing between the calls.
class PeerSubject final : public measure::Subject {
  public:
    PeerSubject(std::string name, crew::Command command, const Json& problem);

    // Takes another problem, in the same process.
    void prepare(const Json& problem);

    std::string name() const override { return name_; }
    void run(std::span<double> seconds, int calls_per_sample) override;
    double resolution() const override { return 1e-7; }
    // What the peer says of itself: library, version, core type, threads.
    const std::string& about() const { return about_; }

  private:
    std::string name_;
    crew::Child child_;
    std::string about_;
};

}  // namespace assay::bench
