// Who answers the conductor's requests: a child that may crash or hang, or this process itself.
#pragma once

#include <memory>
#include <string>

#include "base/json.h"

namespace assay::suite {

class Executor {
  public:
    virtual ~Executor() = default;
    // Throws what suite::Worker throws, and crew::ChildFailed.
    virtual Json ask(const Json& request, double limit_s) = 0;
    // The next request is answered by a fresh process, where there is one.
    virtual void renew() = 0;
};

// A crew child running `program` with the hidden subcommand kWorkerCommand.
std::unique_ptr<Executor> child_executor(const std::string& program, const std::string& name);
// For debuggers: no isolation, no time limit.
std::unique_ptr<Executor> in_process_executor();

inline constexpr const char* kWorkerCommand = "crew-worker";

// What kWorkerCommand does: answers requests until its parent is done.
int serve_worker();

}  // namespace assay::suite
