#include "crew/descriptor.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"

namespace assay::crew {

namespace {

constexpr int kFirstNumber = 10;

[[noreturn]] void throw_system_error(const char* what) {
    const int reason = errno;
    throw Error(std::string(what) + ": " + std::generic_category().message(reason),
                reason == EMFILE ? "raise the limit on open files (ulimit -n)" : "");
}

}  // namespace

void Descriptor::close() {
    if (open()) ::close(std::exchange(number_, -1));
}

Descriptor duplicate(int number) {
    const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, kFirstNumber);
    if (copy < 0) throw_system_error("can't duplicate a file descriptor");
    return Descriptor(copy);
}

Pipe make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_system_error("can't make a pipe");
    const Descriptor read(ends[0]);
    const Descriptor write(ends[1]);
    return {duplicate(read.number()), duplicate(write.number())};
}

void set_nonblocking(const Descriptor& descriptor) {
    const int flags = ::fcntl(descriptor.number(), F_GETFL);
    if (flags < 0 || ::fcntl(descriptor.number(), F_SETFL, flags | O_NONBLOCK) != 0)
        throw_system_error("can't make a pipe non-blocking");
}

}  // namespace assay::crew
