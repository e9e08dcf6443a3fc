// Ours and torch's on one GPU, in turn, and what came of it as rows of a table in Markdown.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "measure/interleave.h"
#include "peer_subject.h"

namespace assay::bench {

// Processes of torch's, one a name, each of which takes one problem after the other: importing
// torch takes seconds.
class Torch {
  public:
    explicit Torch(std::string script) : script_(std::move(script)) {}
    PeerSubject& with(const std::string& name, const Json& problem);

  private:
    std::string script_;
    std::map<std::string, std::unique_ptr<PeerSubject>> peers_;
};

// Round by round for `limit_s` seconds, once all have run into one power state.
std::vector<measure::Alternative> alternate(const std::vector<measure::Subject*>& subjects,
                                            double limit_s);

double median_of(const measure::Alternative& alternative);  // s

void print_header();
// Our rate over the peer's, by round; `work` a second is printed in `unit`.
void print_row(const std::string& what, double work, const char* unit,
               const measure::Alternative& peer, const measure::Alternative& ours);

// One comparison that can't be made doesn't cost the others.
void attempt(const std::string& what, const std::function<void()>& compare);

}  // namespace assay::bench
