#include "base/progress.h"

#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace assay {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string drain(int fd) {
    std::string text;
    char buffer[4096];
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
}

class ProgressToPipe : public testing::Test {
  protected:
    void SetUp() override {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        reader_ = ends[0];
        stream_ = ::fdopen(ends[1], "w");
    }
    void TearDown() override {
        std::fclose(stream_);
        ::close(reader_);
    }
    std::string written() const { return drain(reader_); }

    int reader_ = -1;
    std::FILE* stream_ = nullptr;
};

TEST_F(ProgressToPipe, PrintsALineForEachStep) {
    Progress progress(false, stream_);
    progress.step(0, 2, "gemm");
    EXPECT_EQ(written(), "[0/2] gemm\n");
    progress.note("warm");
    EXPECT_EQ(written(), "warm\n");
    progress.step(2, 2, "memory");
    EXPECT_EQ(written(), "[2/2] memory, 0 s left\n");
    progress.finish();
    EXPECT_EQ(written(), "");
}

TEST_F(ProgressToPipe, TellsTheTimeLeftFromTheBudgetAtFirst) {
    Progress progress(false, stream_);
    progress.expect(3600);
    progress.step(0, 100, "gemm");
    progress.step(1, 100, "gemm");
    EXPECT_THAT(written(), AllOf(HasSubstr("[0/100] gemm, 1 h 0 min left\n"),
                                 HasSubstr("[1/100] gemm, 1 h 0 min left\n")));
}

TEST_F(ProgressToPipe, TellsTheTimeLeftFromTheStepsLater) {
    Progress progress(false, stream_);
    progress.expect(36000);
    progress.step(50, 100, "gemm");
    // Hardly any time has passed, so that as much again is far from the budget of ten hours.
    EXPECT_THAT(written(), AllOf(HasSubstr(" s left\n"), Not(HasSubstr(" h "))));
}

TEST_F(ProgressToPipe, SaysNothingWhenQuiet) {
    {
        Progress progress(true, stream_);
        progress.expect(10);
        progress.step(0, 2, "gemm");
        progress.note("note");
    }
    EXPECT_EQ(written(), "");
}

TEST_F(ProgressToPipe, SurvivesAClosedStream) {
    std::FILE* closed = std::fopen("/dev/full", "w");
    ASSERT_NE(closed, nullptr);
    {
        Progress progress(false, closed);
        progress.expect(10);
        EXPECT_NO_THROW(progress.step(0, 2, "gemm"));
        EXPECT_NO_THROW(progress.note("note"));
    }
    std::fclose(closed);
}

class ProgressToTerminal : public testing::Test {
  protected:
    void SetUp() override {
        setenv("TERM", "xterm", 1);
        master_ = ::posix_openpt(O_RDWR | O_NOCTTY);
        if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0) {
            GTEST_SKIP() << "no pseudo terminals here";
        }
        stream_ = std::fopen(::ptsname(master_), "w");
        ASSERT_NE(stream_, nullptr);
        winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
        ASSERT_EQ(::ioctl(master_, TIOCSWINSZ, &size), 0);
    }
    void TearDown() override {
        if (stream_ != nullptr) std::fclose(stream_);
        if (master_ >= 0) ::close(master_);
    }
    std::string written() const { return drain(master_); }

    int master_ = -1;
    std::FILE* stream_ = nullptr;
};

TEST_F(ProgressToTerminal, RedrawsABar) {
    Progress progress(false, stream_);
    progress.step(0, 2, "gemm");
    EXPECT_EQ(written(), "[........................] 0/2: gemm");
    progress.step(1, 2, "memory");
    EXPECT_THAT(written(), AllOf(testing::StartsWith("\r\x1b[K[############............] 1/2, "),
                                 EndsWith("left: memory")));
    progress.finish();
    EXPECT_EQ(written(), "\r\x1b[K");
    progress.finish();
    EXPECT_EQ(written(), "");
}

TEST_F(ProgressToTerminal, KeepsNotesAboveTheBar) {
    Progress progress(false, stream_);
    progress.step(0, 2, "gemm");
    written();
    progress.note("a note");
    EXPECT_EQ(written(), "\r\x1b[Ka note\r\n");
}

TEST_F(ProgressToTerminal, ClearsTheBarWhenItGoes) {
    {
        Progress progress(false, stream_);
        progress.step(0, 2, "gemm");
    }
    EXPECT_THAT(written(), EndsWith("\r\x1b[K"));
}

TEST_F(ProgressToTerminal, CutsALineThatWouldWrap) {
    Progress progress(false, stream_);
    // Two-byte letters: the cut falls inside one unless it looks.
    std::string what = "x";
    for (int i = 0; i < 100; ++i) what += "\xC3\xA9";
    progress.step(0, 2, what);
    const auto line = written();
    EXPECT_LE(line.size(), 59U);
    EXPECT_GE(line.size(), 57U);
    EXPECT_THAT(line, EndsWith("\xC3\xA9"));
}

TEST_F(ProgressToTerminal, DrawsNoBarOnADumbTerminal) {
    setenv("TERM", "dumb", 1);
    Progress progress(false, stream_);
    progress.step(0, 2, "gemm");
    EXPECT_EQ(written(), "[0/2] gemm\r\n");
}

}  // namespace
}  // namespace assay
