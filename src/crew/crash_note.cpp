#include "crew/crash_note.h"

#include <csignal>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <link.h>
#include <ucontext.h>
#include <unistd.h>

namespace assay::crew {

namespace {

// A stack of its own, so that an overflow of the main thread's stack can be told as well.
constexpr std::size_t kStackSize = std::size_t{64} << 10;
alignas(16) char stack[kStackSize];

void* program_counter([[maybe_unused]] const ucontext_t& context) {
#if defined(__x86_64__)
    return reinterpret_cast<void*>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return reinterpret_cast<void*>(context.uc_mcontext.pc);
#else
    return nullptr;
#endif
}

// Only what is safe in a signal handler.
void say(const char* words) {
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, words, std::strlen(words));
}

void note(int signal, siginfo_t*, void* context) {
    dl_find_object found;
    if (::_dl_find_object(program_counter(*static_cast<const ucontext_t*>(context)), &found) == 0) {
        const char* path = found.dlfo_link_map->l_name;
        say("crashed in ");
        say(*path ? path : "the program itself");
        say("\n");
    }
    ::raise(signal);  // blocked until this returns; the default action is back by then
}

}  // namespace

void install_crash_note() {
    const stack_t own_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = kStackSize};
    ::sigaltstack(&own_stack, nullptr);
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
        struct sigaction action = {};
        ::sigaction(signal, nullptr, &action);
        if (action.sa_handler != SIG_DFL) continue;
        action.sa_sigaction = note;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
        ::sigaction(signal, &action, nullptr);
    }
}

}  // namespace assay::crew
