#include "crew/crash_note.h"

#include <csignal>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <execinfo.h>
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

// The file of the code at `address`, "" for the program itself; null where there is none.
const char* file_at(void* address) {
    dl_find_object found;
    return ::_dl_find_object(address, &found) == 0 ? found.dlfo_link_map->l_name : nullptr;
}

bool is_runtime(const char* file) {
    for (const char* name :
         {"/libc.so", "/libc-", "/libpthread", "/libstdc++", "/libgcc_s", "/libtsan", "/libasan"}) {
        if (std::strstr(file, name) != nullptr) return true;
    }
    return false;
}

// Who called abort(): past this handler's own frames, which are the program's, and past those of
// the run-time libraries after them.
const char* file_of_abort() {
    constexpr int kMost = 64;
    void* frames[kMost];
    const int count = ::backtrace(frames, kMost);
    bool in_runtime = false;
    for (int i = 0; i < count; ++i) {
        const char* file = file_at(frames[i]);
        if (file == nullptr) continue;
        const bool runtime = is_runtime(file);
        if (in_runtime && !runtime) return file;
        in_runtime = in_runtime || runtime;
    }
    return nullptr;
}

void note(int signal, siginfo_t*, void* context) {
    const char* file = signal == SIGABRT
                           ? file_of_abort()
                           : file_at(program_counter(*static_cast<const ucontext_t*>(context)));
    if (file != nullptr) {
        say(signal == SIGABRT ? "aborted in " : "crashed in ");
        say(*file ? file : "the program itself");
        say("\n");
    }
    ::raise(signal);  // blocked until this returns; the default action is back by then
}

}  // namespace

void install_crash_note() {
    void* frame = nullptr;
    ::backtrace(&frame, 1);  // its first call loads a library, which a signal handler must not
    const stack_t own_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = kStackSize};
    ::sigaltstack(&own_stack, nullptr);
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
        struct sigaction action = {};
        ::sigaction(signal, nullptr, &action);
        if (action.sa_handler != SIG_DFL) continue;
        action.sa_sigaction = note;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
        ::sigaction(signal, &action, nullptr);
    }
}

}  // namespace assay::crew
