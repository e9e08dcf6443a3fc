// How a child ended before it had answered, in words.
#pragma once

#include <string>

#include "base/error.h"

namespace assay::crew {

enum class EndKind {
    Crashed,   // a signal that we did not send
    Exited,    // ended by itself, silently
    Hung,      // no heartbeat: not even its helper thread runs
    TimedOut,  // alive, but no answer within the time limit
    BadReply,  // broke the protocol
};

struct Ending {
    EndKind kind = EndKind::Exited;
    int code = 0;                 // Crashed: the signal; Exited: the status
    double seconds = 0;           // Hung, TimedOut: the limit
    std::string detail = {};      // BadReply: what was wrong
    std::string last_words = {};  // the tail of what it wrote on standard error since the request

    // `died of SIGSEGV (segmentation fault)`, with the last line of `last_words`, if any, after it;
    // with the two last ones where they are an abort's cause and place.
    std::string text() const;
};

// "SIGSEGV (segmentation fault)"
std::string signal_text(int signal);

// what() is `child "NAME" ` and the ending's text. The child is gone when this is thrown.
class ChildFailed : public Error {
  public:
    ChildFailed(const std::string& name, Ending ending);
    ~ChildFailed() override;

    const Ending& ending() const noexcept { return ending_; }

  private:
    Ending ending_;
};

}  // namespace assay::crew
