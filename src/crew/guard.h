// The guard of a process group: it kills the group when this process dies, even by SIGKILL.
#pragma once

#include <sys/types.h>

#include "crew/descriptor.h"

namespace assay::crew {

// The death signal of prctl() would end one process, not its group; it would come when the thread
// that started the child ends, not when the process does; and a foreign peer can't be told to watch
// its parent. So a shell waits on a pipe whose other end dies with us. It is not in the group it
// guards, nor in ours.
class Guard {
  public:
    explicit Guard(pid_t group);  // throws Error
    Guard(Guard&&) = delete;
    // Ends the guard and leaves the group alone. The group's leader must not have been reaped yet:
    // until then its number can't be anyone else's.
    ~Guard();

  private:
    Descriptor lifeline_;
    pid_t pid_ = 0;
};

}  // namespace assay::crew
