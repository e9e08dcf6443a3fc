#include "crew/ending.h"

#include <csignal>

#include <gtest/gtest.h>

namespace assay::crew {
namespace {

TEST(Ending, IsOneLineWhateverTheLastWords) {
    const Ending crashed{.kind = EndKind::Crashed, .code = SIGSEGV};
    EXPECT_EQ(crashed.text(), "died of SIGSEGV (segmentation fault)");
    Ending talkative = crashed;
    talkative.last_words = "first\nsecond\r\n\n";
    EXPECT_EQ(talkative.text(), "died of SIGSEGV (segmentation fault); its last words: second");
    Ending aborted{.kind = EndKind::Crashed, .code = SIGABRT};
    aborted.last_words = "first\nassertion failed\naborted in libx.so\n";
    EXPECT_EQ(aborted.text(),
              "died of SIGABRT (aborted); its last words: assertion failed; aborted in libx.so");
    aborted.last_words = "aborted in libx.so\n";
    EXPECT_EQ(aborted.text(), "died of SIGABRT (aborted); its last words: aborted in libx.so");
    talkative.last_words = " \n ";
    EXPECT_EQ(talkative.text(), crashed.text());
}

TEST(Ending, NamesEverySignal) {
    EXPECT_EQ(signal_text(SIGKILL), "SIGKILL (killed)");
    EXPECT_EQ(signal_text(SIGILL), "SIGILL (illegal instruction)");
    EXPECT_EQ(signal_text(SIGRTMIN + 3), "signal " + std::to_string(SIGRTMIN + 3));
}

TEST(Ending, AKillFromOutsideComesWithAdvice) {
    EXPECT_NE(ChildFailed("it", {.kind = EndKind::Crashed, .code = SIGKILL}).hint(), "");
}

}  // namespace
}  // namespace assay::crew
