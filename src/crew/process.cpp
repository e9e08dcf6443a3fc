#include "crew/process.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time.h"

namespace assay::crew {

namespace {

constexpr std::size_t kLastWords = 4096;
constexpr std::size_t kChunk = std::size_t{64} << 10;  // what a pipe holds
constexpr double kUnkillable_s = 10;

// A child that dies while we write to it is an error to report, never our own end.
void ignore_sigpipe() {
    struct sigaction now = {};
    ::sigaction(SIGPIPE, nullptr, &now);
    if (now.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

// What can be read at once, a chunk at most. Closes the pipe at its end.
std::string_view read_chunk(Descriptor& pipe, char (&buffer)[kChunk]) {
    if (!pipe.open()) return {};
    const ssize_t count = ::read(pipe.number(), buffer, kChunk);
    if (count > 0) return {buffer, static_cast<std::size_t>(count)};
    if (count == 0) pipe.close();
    return {};
}

}  // namespace

Process::Process(const Command& command) {
    ignore_sigpipe();
    Pipe input = make_pipe();
    Pipe reply = make_pipe();
    Pipe error = make_pipe();
    for (const Descriptor* ours : {&input.write, &reply.read, &error.read}) set_nonblocking(*ours);
    const bool own = command.own_protocol;
    pid_ = spawn(command, {.input = input.read.number(),
                           .output = own ? error.write.number() : reply.write.number(),
                           .error = error.write.number(),
                           .reply = own ? reply.write.number() : -1});
    input_ = std::move(input.write);
    reply_ = std::move(reply.read);
    error_ = std::move(error.read);
    try {
        guard_.emplace(pid_);
    } catch (...) {
        terminate(0);
        throw;
    }
}

Process::~Process() {
    if (pid_ != 0) terminate(0);
}

bool Process::exchange(std::string_view& unsent, double timeout_s) {
    pollfd pipes[] = {
        {.fd = unsent.empty() ? -1 : input_.number(), .events = POLLOUT, .revents = 0},
        {.fd = reply_.number(), .events = POLLIN, .revents = 0},
        {.fd = error_.number(), .events = POLLIN, .revents = 0}};
    if (::poll(pipes, std::size(pipes), static_cast<int>(std::ceil(timeout_s * 1e3))) <= 0)
        return false;
    if (pipes[0].revents != 0) {
        const ssize_t count = ::write(input_.number(), unsent.data(), unsent.size());
        if (count > 0) unsent.remove_prefix(static_cast<std::size_t>(count));
        if (count < 0 && errno == EPIPE) unsent = {};  // its end shows on the reply pipe
    }
    if (pipes[2].revents != 0) read_errors();
    return pipes[1].revents != 0 && read_replies();
}

bool Process::read_replies() {
    char buffer[kChunk];
    const std::string_view bytes = read_chunk(reply_, buffer);
    replies_.append(bytes);
    return !bytes.empty();
}

void Process::read_errors() {
    char buffer[kChunk];
    const std::string_view bytes = read_chunk(error_, buffer);
    last_words_ += bytes;
    if (last_words_.size() > kLastWords) last_words_.erase(0, last_words_.size() - kLastWords);
}

bool Process::ended() const {
    siginfo_t state = {};
    const int result =
        ::waitid(P_PID, static_cast<id_t>(pid_), &state, WEXITED | WNOHANG | WNOWAIT);
    return result == 0 && state.si_pid == pid_;
}

bool Process::wait_for_end(double seconds) {
    const double deadline = monotonic_seconds() + seconds;
    while (!ended()) {
        if (monotonic_seconds() >= deadline) return false;
        // A full pipe would keep it from ending; its replies come too late to matter.
        std::string_view nothing;
        exchange(nothing, 1e-3);
        replies_ = {};
    }
    return true;
}

bool Process::dismiss(double grace_s) {
    input_.close();
    return wait_for_end(grace_s);
}

std::optional<int> Process::terminate(double grace_s) {
    input_.close();
    if (!ended()) {
        ::kill(-pid_, SIGTERM);
        ::kill(-pid_, SIGCONT);  // a stopped process takes SIGTERM only once it goes on
    }
    const bool gone = wait_for_end(grace_s);
    ::kill(-pid_, SIGKILL);
    std::optional<int> status;
    if (gone || wait_for_end(kUnkillable_s)) {
        read_errors();
        guard_.reset();
        int value = 0;
        while (::waitpid(pid_, &value, 0) < 0 && errno == EINTR) {
        }
        status = value;
    }
    pid_ = 0;
    return status;
}

}  // namespace assay::crew
