#include "base/interrupt.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"

namespace assay {
namespace {

// Handlers are of the whole process, so each test gets one of its own.
template <class Body>
void expect_child_exits(int status, Body body) {
    EXPECT_EXIT(
        {
            body();
            std::_Exit(0);
        },
        testing::ExitedWithCode(status), "");
}

void check(bool holds) {
    if (!holds) std::_Exit(1);
}

TEST(Interrupt, FlagThrowsWhenSet) {
    set_interrupted(false);
    EXPECT_FALSE(interrupted());
    EXPECT_NO_THROW(throw_if_interrupted());
    set_interrupted(true);
    EXPECT_TRUE(interrupted());
    EXPECT_THROW(throw_if_interrupted(), Interrupted);
    set_interrupted(false);
}

TEST(InterruptDeathTest, FirstSignalSetsTheFlag) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        expect_child_exits(0, [signal] {
            install_interrupt_handlers();
            check(!interrupted());
            std::raise(signal);
            check(interrupted());
        });
    }
}

TEST(InterruptDeathTest, SecondSignalEndsTheProgramAtOnce) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        expect_child_exits(kExitInterrupted, [signal] {
            install_interrupt_handlers();
            std::raise(SIGINT);
            std::raise(signal);
        });
    }
}

TEST(InterruptDeathTest, IgnoredHangUpStaysIgnored) {
    expect_child_exits(0, [] {
        std::signal(SIGHUP, SIG_IGN);
        install_interrupt_handlers();
        std::raise(SIGHUP);
        check(!interrupted());
    });
}

TEST(InterruptDeathTest, BrokenPipeIsAnErrorOfTheWrite) {
    expect_child_exits(0, [] {
        install_interrupt_handlers();
        int ends[2];
        check(::pipe(ends) == 0);
        ::close(ends[0]);
        check(::write(ends[1], "x", 1) == -1 && errno == EPIPE);
    });
}

}  // namespace
}  // namespace assay
