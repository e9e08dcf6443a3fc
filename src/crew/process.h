// A running child: its pipes, its group, its end. Knows lines, not their meaning.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "crew/descriptor.h"
#include "crew/guard.h"
#include "crew/lines.h"
#include "crew/spawn.h"

namespace assay::crew {

class Process {
  public:
    // Starts the program and its guard. Throws Error.
    explicit Process(const Command& command);
    Process(Process&&) = delete;
    // Kills what is left of the group, without grace.
    ~Process();

    pid_t pid() const { return pid_; }

    // One wait of at most `timeout_s` for any of the pipes: sends the front of `unsent` and removes
    // it there, takes in replies and standard error. True when reply bytes came.
    bool exchange(std::string_view& unsent, double timeout_s);
    std::optional<std::string> next_line() { return replies_.next(); }
    std::size_t pending() const { return replies_.pending(); }  // bytes not handed out yet
    // No process holds the other end of the reply pipe any more.
    bool replies_ended() const { return !reply_.open(); }

    // The tail of its standard error, at most 4 KiB, since forget_errors().
    const std::string& last_words() const { return last_words_; }
    void forget_errors() { last_words_.clear(); }

    bool ended() const;  // it may still be a zombie: terminate() reaps it
    // Closes its standard input, at which a well-behaved child ends, and waits. True when it ended.
    bool dismiss(double grace_s);
    // SIGTERM to the group, SIGKILL after the grace, and again to whoever is left once the child
    // ended. The wait status, or none for a process that even SIGKILL could not end in 10 s (stuck
    // in a driver): it is left behind. Call once.
    std::optional<int> terminate(double grace_s);

  private:
    bool read_replies();
    void read_errors();
    bool wait_for_end(double seconds);

    Descriptor input_;
    Descriptor reply_;
    Descriptor error_;
    pid_t pid_ = 0;  // 0 once reaped
    std::optional<Guard> guard_;
    Lines replies_;
    std::string last_words_;
};

}  // namespace assay::crew
