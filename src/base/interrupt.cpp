#include "base/interrupt.h"

#include <atomic>
#include <csignal>

#include <unistd.h>

#include "base/error.h"

namespace assay {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a handler may touch nothing else");

// Only async-signal-safe calls here: a second signal may come while any lock is held.
extern "C" void on_signal(int /*signal*/) {
    if (flag.exchange(true)) _exit(kExitInterrupted);
}

}  // namespace

void install_interrupt_handlers() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    // Reads and writes go on after a signal; waits (poll, nanosleep) return EINTR all the same.
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);

    // nohup asks by an ignored SIGHUP to be left alone.
    struct sigaction before {};
    sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);

    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, nullptr);
}

bool interrupted() noexcept {
    return flag.load(std::memory_order_relaxed);
}

void throw_if_interrupted() {
    if (interrupted()) throw Interrupted();
}

void set_interrupted(bool value) noexcept {
    flag.store(value);
}

}  // namespace assay
