// Ctrl-C and SIGTERM at any moment, a reader that goes away: what was measured is kept, and no
// process is left.
#include <csignal>

#include "base/error.h"
#include "cli/assay.h"
#include "record/json.h"

namespace assay::cli {
namespace {

using record::RunState;
using testing::HasSubstr;
using Words = std::vector<std::string>;

// Long enough that a signal comes in the middle of it.
const Words kSixCases{"memory",  "--op",       "copy,read,write,scale,add,triad",
                      "--size",  "32K",        "--device",
                      "cpu",     "--protocol", "boost",
                      "--limit", "1"};

class ProgramInterrupt : public Assay {
  protected:
    Ended kicked(const Words& arguments, const std::vector<Kick>& kicks) {
        auto kicked_program = program(arguments);
        kicked_program.kicks = kicks;
        return run_program(kicked_program);
    }
};

TEST_F(ProgramInterrupt, KeepsWhatWasMeasured) {
    for (const int signal : {SIGINT, SIGTERM}) {
        const auto ended = kicked(kSixCases + Words{"--format", "json"}, {{signal, "[2/6]", 0.2}});
        expect_complaint(ended, kExitInterrupted, "interrupted with 2 cases measured",
                         store_path());
        const auto printed = record::run_from_json(parse_json(ended.out, "standard output"));
        EXPECT_EQ(printed.state, RunState::interrupted);
        EXPECT_EQ(printed.results.size(), 2u);
        EXPECT_EQ(stored(), printed);
        EXPECT_TRUE(all_processes_end());
    }
}

TEST_F(ProgramInterrupt, AtTheStartIsAnInterruptionToo) {
    for (const double delay : {0.0, 0.01, 0.03, 0.1, 0.2}) {
        SCOPED_TRACE(delay);
        const auto ended = kicked(kSixCases, {{SIGINT, "", delay}});
        // Before the program's first line runs, the system itself ends it.
        if (ended.signal == SIGINT) continue;
        EXPECT_EQ(ended.status, kExitInterrupted) << ended.err;
        EXPECT_THAT(ended.err, HasSubstr("assay: interrupted"));
        EXPECT_TRUE(all_processes_end());
    }
}

TEST_F(ProgramInterrupt, TwiceEndsAtOnceAndKeepsWhatWasMeasured) {
    const auto ended = kicked(kSixCases, {{SIGINT, "[2/6]", 0.2}, {SIGINT, "", 0.01}});
    EXPECT_EQ(ended.status, kExitInterrupted) << ended.err;
    EXPECT_EQ(stored().results.size(), 2u);
    EXPECT_TRUE(all_processes_end());
}

TEST_F(ProgramInterrupt, ByAKilledParentLeavesNoProcess) {
    const auto ended = kicked(kSixCases, {{SIGKILL, "[1/6]", 0.1}});
    EXPECT_EQ(ended.signal, SIGKILL);
    EXPECT_EQ(stored().results.size(), 1u);
    EXPECT_EQ(stored().state, RunState::failed);
    EXPECT_TRUE(all_processes_end());
}

TEST_F(ProgramInterrupt, InOneProcessKeepsThePartToo) {
    const auto ended = kicked(kSixCases + Words{"--in-process"}, {{SIGINT, "[2/6]", 0.2}});
    EXPECT_EQ(ended.status, kExitInterrupted) << ended.err;
    EXPECT_EQ(stored().state, RunState::interrupted);
    EXPECT_GE(stored().results.size(), 2u);
}

TEST_F(ProgramInterrupt, OfLaunchesKeepsTheEarlierOnes) {
    const auto ended = kicked(kMemory + Words{"--launches", "3"}, {{SIGINT, "[1/3]", 0.1}});
    expect_complaint(ended, kExitInterrupted, "interrupted with 1 case", "");
    ASSERT_EQ(stored().results.size(), 1u);
    EXPECT_EQ(stored().results[0].launches.size(), 1u);
}

TEST_F(ProgramInterrupt, AReaderThatGoesAwayIsNoCrash) {
    for (const Words& arguments : {kMemory, Words{"gemm", "--help"}, Words{"info"}}) {
        auto unread = program(arguments);
        unread.hang_up = true;
        expect_complaint(run_program(unread), kExitFailed, "standard output", "let it read");
    }
    EXPECT_EQ(stored().results.size(), 1u);
}

TEST_F(ProgramInterrupt, StandardErrorThatIsFullIsNoCrash) {
    auto mute = program({"gemm", "--shapes", "none"});
    mute.argv = {"/bin/sh", "-c", "exec \"$0\" gemm --shapes none 2>/dev/full", mute.argv[0]};
    EXPECT_EQ(run_program(mute).status, kExitUsage);
}

}  // namespace
}  // namespace assay::cli
