// Who answers the conductor's requests: a child that may crash or hang, or this process itself.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/json.h"

namespace assay::suite {

class Executor {
  public:
    virtual ~Executor() = default;
    // Hands on what suite::Worker sends on the way. Throws what it throws, and crew::ChildFailed.
    using News = std::function<void(const Json&)>;
    virtual Json ask(const Json& request, double limit_s, const News& on_news) = 0;
    Json ask(const Json& request, double limit_s) { return ask(request, limit_s, {}); }
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
