#include "crew/guard.h"

#include <cerrno>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew/spawn.h"

namespace assay::crew {

Guard::Guard(pid_t group) {
    Pipe pipe = make_pipe();
    const Descriptor opened(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const Descriptor nothing = duplicate(opened.number());
    const Command command{.argv = {"/bin/sh", "-c",
                                   "trap '' HUP INT TERM; read -r _; kill -s KILL -- \"-$1\"",
                                   "assay-guard", std::to_string(group)}};
    pid_ = spawn(command, {.input = pipe.read.number(),
                           .output = nothing.number(),
                           .error = nothing.number(),
                           .reply = -1});
    lifeline_ = std::move(pipe.write);
}

Guard::~Guard() {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace assay::crew
