// A supervised child, asked one thing at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <sys/types.h>

#include "base/json.h"
#include "crew/ending.h"
#include "crew/spawn.h"

namespace assay::crew {

class Process;

struct Limits {
    double request_s = 600;   // wall time for one request
    double heartbeat_s = 10;  // silence of an own child that counts as a hang; its start included
    double grace_s = 2;       // from SIGTERM to SIGKILL
};

// The program runs from the first request on and is kept while it lives; after a failure the next
// request starts it afresh. For one thread at a time, though not always the same one; several
// children may be asked at once from as many threads.
class Child {
  public:
    // `name` is what errors call it. Starts nothing yet.
    Child(std::string name, Command command);
    Child(Child&&) noexcept;
    Child& operator=(Child&&) noexcept;
    ~Child();  // as stop(), with the default grace

    // Sends `message` and waits for the answer, whose value is returned; news on the way goes to
    // `on_news`. Throws
    //   ChildFailed    when the child crashed, ended, hung, took too long or broke the protocol
    //   UsageError, Unsupported, Error    as the handler threw it; the child lives on
    //   DeviceLost     likewise, but the child has ended
    //   Interrupted    when interrupted() becomes true meanwhile; the child has been ended
    //   Error          when the program can't be started
    // and whatever `on_news` throws, the child having been ended.
    Json request(const Json& message, const Limits& limits = {},
                 const std::function<void(const Json&)>& on_news = {});

    // Ends the child, if one runs: by the end of its input, then SIGTERM, then SIGKILL, a grace
    // apart. The next request starts a fresh one.
    void stop(double grace_s = Limits{}.grace_s);

    bool alive() const;
    pid_t pid() const;  // 0 when none runs

  private:
    void make_ready(const Limits& limits);
    Json converse(const Json& message, const Limits& limits,
                  const std::function<void(const Json&)>& on_news);
    Json parse_reply(const std::string& line, const Limits& limits);
    void end(double grace_s);
    [[noreturn]] void fail(Ending ending, double grace_s);
    [[noreturn]] void fail_of_itself(const Limits& limits);

    std::string name_;
    Command command_;
    std::unique_ptr<Process> process_;
};

}  // namespace assay::crew
