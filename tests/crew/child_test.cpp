#include "crew/child.h"

#include <csignal>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "crew/processes.h"

namespace assay::crew {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kPrograms = std::string(ASSAY_BINARY_DIR) + "/bin/";
const Limits kQuick{.request_s = 60, .heartbeat_s = 30, .grace_s = 0.2};

// Each test has its own marker in the environment of all its processes.
class ChildTest : public testing::Test {
  protected:
    ChildTest() {
        static int serial = 0;
        const std::string value = std::to_string(::getpid()) + "-" + std::to_string(++serial);
        marker_ = {"ASSAY_TEST_MARKER", value};
    }
    ~ChildTest() override {
        set_interrupted(false);
        EXPECT_THAT(own_children(), IsEmpty()) << "a child, a guard or a zombie is left";
        EXPECT_TRUE(nobody_left()) << "a descendant is left";
    }

    std::vector<pid_t> processes() const {
        return processes_with(marker_.first + "=" + marker_.second);
    }
    bool nobody_left() const {
        return soon([&] { return processes().empty(); });
    }

    Command command(std::vector<std::string> argv) const {
        // Crashes are to be crashes under the sanitizers too.
        return {.argv = std::move(argv),
                .environment = {
                    marker_, {"ASAN_OPTIONS", "handle_segv=0"}, {"TSAN_OPTIONS", "handle_segv=0"}}};
    }
    Child child() const { return Child("it", command({kPrograms + "crew_child_program"})); }
    Child parent() const {
        return Child("parent", command({kPrograms + "crew_parent_program",
                                        kPrograms + "crew_child_program"}));
    }
    // A shell script in place of a child of ours (`own`) or of a foreign peer.
    Child script(const std::string& text, bool own = false) const {
        Command shell = command({"sh", "-c", text});
        shell.own_protocol = own;
        return Child("script", shell);
    }

  private:
    std::pair<std::string, std::string> marker_;
};

// The ending of a request that must fail, after which a fresh child must take the next.
Ending failure(Child& child, const Json& request, const Limits& limits = kQuick) {
    const Json before = child.request({{"do", "pid"}});
    Ending ending;
    try {
        child.request(request, limits);
        ADD_FAILURE() << request << " did not fail";
    } catch (const ChildFailed& failed) {
        ending = failed.ending();
        EXPECT_EQ(failed.what(), "child \"it\" " + ending.text());
    }
    EXPECT_FALSE(child.alive());
    EXPECT_NE(child.request({{"do", "pid"}}), before);
    return ending;
}

TEST_F(ChildTest, AnswersAndStaysTheSameProcess) {
    Child it = child();
    EXPECT_EQ(it.pid(), 0);
    EXPECT_EQ(it.request({{"do", "echo"}, {"value", {1, "two", nullptr}}}),
              Json({1, "two", nullptr}));
    const pid_t first = it.pid();
    EXPECT_EQ(it.request({{"do", "pid"}}), first);
    EXPECT_EQ(it.pid(), first);
    EXPECT_TRUE(it.alive());
}

TEST_F(ChildTest, HandsOnNewsInOrder) {
    Child it = child();
    std::vector<Json> steps;
    it.request({{"do", "news"}, {"count", 500}}, {}, [&](const Json& news) {
        EXPECT_EQ(news["type"], "progress");
        steps.push_back(news["step"]);
    });
    ASSERT_EQ(steps.size(), 500U);
    for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i], i);
}

TEST_F(ChildTest, CarriesTenMegabytesBothWays) {
    Child it = child();
    const std::string text(10'000'000, 'x');
    EXPECT_EQ(it.request({{"do", "echo"}, {"value", text}}), text);
}

TEST_F(ChildTest, StopMakesTheNextRequestAFreshLaunch) {
    Child it = child();
    const Json first = it.request({{"do", "pid"}});
    it.stop();
    EXPECT_EQ(it.pid(), 0);
    EXPECT_NE(it.request({{"do", "pid"}}), first);
}

TEST_F(ChildTest, APrintingLibraryDoesNoHarm) {
    Child it = child();
    EXPECT_EQ(it.request({{"do", "print"}}), "true answer");
    EXPECT_EQ(it.request({{"do", "echo"}, {"value", 7}}), 7);
}

TEST_F(ChildTest, ThrowsWhatTheHandlerThrew) {
    Child it = child();
    const auto ask = [&](const char* kind) { it.request({{"do", "throw"}, {"kind", kind}}); };
    const Json pid = it.request({{"do", "pid"}});
    EXPECT_THROW(ask("usage"), UsageError);
    EXPECT_THROW(ask("unsupported"), Unsupported);
    try {
        ask("error");
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "can't read x");
        EXPECT_EQ(error.hint(), "make it readable");
    }
    EXPECT_THROW(ask("standard"), Error);
    EXPECT_THROW(ask("a number"), Error);
    EXPECT_THROW(it.request({{"no", "order"}}), Error);
    EXPECT_EQ(it.request({{"do", "pid"}}), pid) << "an error must not cost the child";
}

TEST_F(ChildTest, ALostDeviceEndsTheChild) {
    Child it = child();
    const Json pid = it.request({{"do", "pid"}});
    EXPECT_THROW(it.request({{"do", "throw"}, {"kind", "device_lost"}}), DeviceLost);
    EXPECT_FALSE(it.alive());
    EXPECT_NE(it.request({{"do", "pid"}}), pid);
}

TEST_F(ChildTest, TellsACrashByItsSignalAndProgram) {
    Child it = child();
    const Ending ending = failure(it, {{"do", "crash"}});
    EXPECT_EQ(ending.kind, EndKind::Crashed);
    EXPECT_EQ(ending.code, SIGSEGV);
    EXPECT_EQ(
        ending.text(),
        "died of SIGSEGV (segmentation fault); its last words: crashed in the program itself");
}

TEST_F(ChildTest, TellsTheLibraryOfACrash) {
    Child it = child();
    EXPECT_THAT(failure(it, {{"do", "crash in a library"}}).text(), HasSubstr("libc.so"));
}

TEST_F(ChildTest, TellsAnAbort) {
    Child it = child();
    const Ending ending = failure(it, {{"do", "abort"}});
    EXPECT_EQ(ending.kind, EndKind::Crashed);
    EXPECT_EQ(ending.text(),
              "died of SIGABRT (aborted); its last words: aborted in the program itself");
}

TEST_F(ChildTest, TellsASilentExitByItsStatus) {
    Child it = child();
    for (const int status : {0, 3}) {
        const Ending ending = failure(it, {{"do", "exit"}, {"status", status}});
        EXPECT_EQ(ending.kind, EndKind::Exited);
        EXPECT_EQ(ending.code, status);
        EXPECT_EQ(ending.text(),
                  "ended without an answer, with exit status " + std::to_string(status));
    }
}

TEST_F(ChildTest, ALoopThatStillBeatsRunsIntoTheTimeLimit) {
    Child it = child();
    const Ending ending =
        failure(it, {{"do", "loop"}}, {.request_s = 2, .heartbeat_s = 1.5, .grace_s = 0.2});
    EXPECT_EQ(ending.kind, EndKind::TimedOut);
    EXPECT_EQ(ending.seconds, 2);
}

TEST_F(ChildTest, AStoppedProcessHasNoHeartbeat) {
    Child it = child();
    const Ending ending =
        failure(it, {{"do", "stop"}}, {.request_s = 60, .heartbeat_s = 1, .grace_s = 0.2});
    EXPECT_EQ(ending.kind, EndKind::Hung);
    EXPECT_EQ(ending.seconds, 1);
}

TEST_F(ChildTest, ABusyChildKeepsItselfAlive) {
    Child it = child();
    EXPECT_EQ(it.request({{"do", "work"}, {"seconds", 2}}, {.heartbeat_s = 1.5}), nullptr);
}

TEST_F(ChildTest, EndsAChildThatIgnoresSigterm) {
    Child it = child();
    const Ending ending = failure(it, {{"do", "loop"}, {"stubborn", true}},
                                  {.request_s = 0.5, .heartbeat_s = 30, .grace_s = 0.2});
    EXPECT_EQ(ending.kind, EndKind::TimedOut);
}

TEST_F(ChildTest, EndsAStubbornGrandchildHoweverTheChildEnds) {
    Child it = child();
    it.request({{"do", "leave"}, {"grandchild", true}});
    EXPECT_TRUE(soon([&] { return processes().size() >= 2; }))
        << "the scan must find the child and its grandchild";
    it.stop();
    EXPECT_TRUE(nobody_left());

    EXPECT_EQ(failure(it, {{"do", "crash"}, {"grandchild", true}}).kind, EndKind::Crashed);
    it.stop();
    EXPECT_TRUE(nobody_left());

    it.request({{"do", "leave"}, {"grandchild", true}});
    ::kill(it.pid(), SIGKILL);
    EXPECT_TRUE(soon([&] { return !it.alive(); }));
    it.request({{"do", "pid"}});  // notices, and starts a fresh one
    it.stop();
    EXPECT_TRUE(nobody_left());
}

TEST_F(ChildTest, KeepsTheLastWordsOfTheFailedRequestOnly) {
    Child it = child();
    it.request({{"do", "complain"}, {"value", "an old warning"}});
    const Ending ending = failure(it, {{"do", "exit"}, {"status", 1}});
    EXPECT_THAT(ending.last_words, IsEmpty());

    Child talker = script("read line; yes word | head -c 100000 >&2; echo last >&2; exit 1");
    try {
        talker.request({});
        FAIL();
    } catch (const ChildFailed& failed) {
        EXPECT_EQ(failed.ending().last_words.size(), 4096U);
        EXPECT_STREQ(failed.what(),
                     "child \"script\" ended without an answer, with exit status 1; "
                     "its last words: last");
    }
}

TEST_F(ChildTest, IsNotKilledByWritingToADeadChild) {
    std::signal(SIGPIPE, SIG_DFL);
    Child it = script("exit 3");
    const Json large = std::string(10'000'000, 'x');
    try {
        it.request(large);
        FAIL();
    } catch (const ChildFailed& failed) {
        EXPECT_EQ(failed.ending().kind, EndKind::Exited);
        EXPECT_EQ(failed.ending().code, 3);
    }
}

TEST_F(ChildTest, GarbageInTheReplyPipeIsOneClearFailure) {
    for (const bool own : {true, false}) {
        Child it = script(own ? "read line; echo 'gar\377bage' >&3; sleep 1000"
                              : "read line; echo 'gar\377bage'; sleep 1000",
                          own);
        try {
            it.request({}, kQuick);
            FAIL();
        } catch (const ChildFailed& failed) {
            EXPECT_EQ(failed.ending().kind, EndKind::BadReply);
            EXPECT_THAT(failed.what(), HasSubstr("broke the protocol: it sent \"gar"));
        }
        EXPECT_FALSE(it.alive());
    }
    for (const char* reply : {"42", "[]", "{}", "{\"type\":1}", ""})
        EXPECT_THROW(script("read line; echo '" + std::string(reply) + "'").request({}),
                     ChildFailed);
}

TEST_F(ChildTest, AClosedReplyPipeOfAProcessThatGoesOnIsAFailure) {
    Child it = script("exec 3>&-; sleep 1000", true);
    try {
        it.request({}, kQuick);
        FAIL();
    } catch (const ChildFailed& failed) {
        EXPECT_EQ(failed.ending().kind, EndKind::BadReply);
    }
}

TEST_F(ChildTest, AnOldAnswerIsNeverTakenForANewOne) {
    Child it = script(
        "while read -r line; do for i in 1 2; do echo \"{\\\"type\\\":\\\"done\\\","
        "\\\"value\\\":$line}\"; done; done");
    EXPECT_EQ(it.request(1), 1);
    // The second line may come with the first or after it.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_THROW(it.request(2), ChildFailed);
}

TEST_F(ChildTest, AForeignPeerAnswersOnItsStandardOutput) {
    Child peer = script(
        "while read -r line; do echo \"{\\\"type\\\":\\\"done\\\",\\\"value\\\":$line}\";"
        "done");
    for (int i = 0; i < 100; ++i) EXPECT_EQ(peer.request(i), i);
}

TEST_F(ChildTest, AForeignPeerHasATimeLimitOnly) {
    Child peer = script("read line; sleep 0.5; echo '{\"type\":\"done\"}'; read line; sleep 1000");
    EXPECT_EQ(peer.request({}, {.request_s = 60, .heartbeat_s = 0.2}), nullptr);
    try {
        peer.request({}, {.request_s = 0.3, .heartbeat_s = 60, .grace_s = 0.2});
        FAIL();
    } catch (const ChildFailed& failed) {
        EXPECT_EQ(failed.ending().kind, EndKind::TimedOut);
    }
}

TEST_F(ChildTest, AnUnknownProgramIsAnErrorThatNamesIt) {
    Child it("it", command({"no-such-program"}));
    try {
        it.request({});
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "can't start \"no-such-program\": No such file or directory");
    }
}

TEST_F(ChildTest, TheEnvironmentIsAddedTo) {
    ::setenv("ASSAY_TEST_KEPT", "kept", 1);
    ::setenv("ASSAY_TEST_CHANGED", "old", 1);
    Command shell = command({"sh", "-c",
                             "read line; printf '{\"type\":\"done\",\"value\":\"%s %s\"}\\n' "
                             "\"$ASSAY_TEST_KEPT\" \"$ASSAY_TEST_CHANGED\""});
    shell.own_protocol = false;
    shell.environment.emplace_back("ASSAY_TEST_CHANGED", "new");
    EXPECT_EQ(Child("it", shell).request({}), "kept new");
}

TEST_F(ChildTest, AnInterruptEndsTheWaitAndTheChild) {
    for (const bool stubborn : {false, true}) {
        Child it = child();
        Json request = {{"do", "loop"}, {"announce", true}};
        if (stubborn) request["stubborn"] = true;
        EXPECT_THROW(it.request(request, kQuick, [](const Json&) { set_interrupted(true); }),
                     Interrupted);
        EXPECT_FALSE(it.alive());
        EXPECT_TRUE(nobody_left());
        set_interrupted(false);
    }
}

TEST_F(ChildTest, AnExceptionOfTheListenerEndsTheChild) {
    Child it = child();
    EXPECT_THROW(it.request({{"do", "loop"}, {"announce", true}}, kQuick,
                            [](const Json&) { throw Error("the disk is full"); }),
                 Error);
    EXPECT_FALSE(it.alive());
}

TEST_F(ChildTest, LeadsItsOwnProcessGroup) {
    Child it = child();
    EXPECT_EQ(it.request({{"do", "group"}}), it.request({{"do", "pid"}}));
}

TEST_F(ChildTest, InheritsNoPipeOfAnotherChild) {
    Child first = child();
    const std::size_t alone = first.request({{"do", "descriptors"}}).size();
    Child second = child();
    EXPECT_EQ(second.request({{"do", "descriptors"}}).size(), alone);
}

TEST_F(ChildTest, LeaksNoDescriptor) {
    const std::size_t before = open_descriptor_count();
    {
        Child it = child();
        for (int i = 0; i < 5; ++i) {
            failure(it, {{"do", "exit"}, {"status", 1}});
            it.stop();
        }
        Child missing("it", command({"no-such-program"}));
        EXPECT_THROW(missing.request({}), Error);
    }
    EXPECT_EQ(open_descriptor_count(), before);
}

TEST_F(ChildTest, AParentKilledWhileItWaitsLeavesNobody) {
    for (const char* what : {"loop", "stop"}) {
        Child outer = parent();
        const Json request = {
            {"do", what}, {"announce", true}, {"stubborn", true}, {"grandchild", true}};
        try {
            outer.request(request, kQuick, [&](const Json&) {
                // The inner child stops itself just after its news: let it.
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                ::kill(outer.pid(), SIGKILL);
            });
            FAIL();
        } catch (const ChildFailed& failed) {
            EXPECT_EQ(failed.ending().code, SIGKILL);
        }
        EXPECT_TRUE(nobody_left()) << what;
    }
}

TEST_F(ChildTest, AParentKilledWhileIdleLeavesNobody) {
    Child outer = parent();
    outer.request({{"do", "leave"}, {"stubborn", true}, {"grandchild", true}});
    ::kill(outer.pid(), SIGKILL);
    EXPECT_TRUE(nobody_left());
}

TEST_F(ChildTest, AParentThatWasStoppedBlamesNobodyForTheSilence) {
    Child outer = parent();
    const Json answer = outer.request(
        {{"do", "work"}, {"seconds", 2}, {"announce", true}}, kQuick, [&](const Json&) {
            ::kill(outer.pid(), SIGSTOP);
            std::this_thread::sleep_for(std::chrono::milliseconds(1600));
            ::kill(outer.pid(), SIGCONT);
        });
    EXPECT_EQ(answer, nullptr);
}

TEST_F(ChildTest, CtrlCReachesTheParentOnlyWhichEndsTheChild) {
    Child outer = parent();
    try {
        outer.request({{"do", "loop"}, {"announce", true}, {"stubborn", true}}, kQuick,
                      [&](const Json&) { ::kill(-outer.pid(), SIGINT); });
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "interrupted");
    }
    EXPECT_TRUE(outer.alive());
    outer.stop();
}

TEST_F(ChildTest, SeveralAreAskedAtOnce) {
    std::vector<std::jthread> askers;
    for (int i = 0; i < 4; ++i) {
        askers.emplace_back([this, i] {
            Child it = child();
            for (int j = 0; j < 20; ++j)
                EXPECT_EQ(it.request({{"do", "echo"}, {"value", i * 100 + j}}), i * 100 + j);
        });
    }
}

}  // namespace
}  // namespace assay::crew
