#include "cpu/cpu_stream.h"

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "cpu/affinity.h"

namespace assay::cpu {
namespace {

class Streams : public testing::Test {
  protected:
    ThreadTeam team_{{Core{{thread_affinity().front()}, 0}}};
};
class CpuStreams : public Streams {};
class CpuGraphs : public Streams {};
class CpuEvents : public Streams {};

TEST_F(CpuStreams, RunsCallsAtOnceAndInOrder) {
    CpuStream stream(team_);
    std::string order;
    stream.hold();
    stream.enqueue([&] { order += 'a'; });
    stream.enqueue([&] { order += 'b'; });
    EXPECT_EQ(order, "ab");
    stream.release();
    stream.synchronize();
    EXPECT_EQ(order, "ab");
}

TEST_F(CpuStreams, PinTheCallerUntilItSynchronizes) {
    const auto before = thread_affinity();
    CpuStream stream(team_);
    stream.enqueue([&] { EXPECT_EQ(thread_affinity(), team_.cores()[0].cpus); });
    EXPECT_EQ(thread_affinity(), team_.cores()[0].cpus);
    stream.synchronize();
    EXPECT_EQ(thread_affinity(), before) << "what this thread starts now may use every processor";
    CpuEvent start;
    stream.record(start);
    EXPECT_EQ(thread_affinity(), team_.cores()[0].cpus) << "pinning isn't timed";
    stream.synchronize();
    EXPECT_EQ(thread_affinity(), before);
}

TEST_F(CpuStreams, ErrorsComeFromTheCallItself) {
    CpuStream stream(team_);
    EXPECT_THROW(stream.enqueue([] { throw Unsupported("planted"); }), Unsupported);
    EXPECT_NO_THROW(stream.synchronize());
}

TEST_F(CpuGraphs, RunsOnlyWhenLaunchedAndEachTime) {
    CpuStream stream(team_);
    int calls = 0;
    const auto graph = stream.capture([&] {
        stream.enqueue([&] { ++calls; });
        stream.enqueue([&] { calls *= 10; });
    });
    EXPECT_EQ(calls, 0);
    graph->launch(stream);
    EXPECT_EQ(calls, 10);
    graph->launch(stream);
    EXPECT_EQ(calls, 110);
}

TEST_F(CpuGraphs, ALaunchInsideACaptureIsRecordedToo) {
    CpuStream stream(team_);
    int calls = 0;
    auto inner = stream.capture([&] { stream.enqueue([&] { ++calls; }); });
    const auto outer = stream.capture([&] {
        inner->launch(stream);
        inner->launch(stream);
    });
    EXPECT_EQ(calls, 0);
    inner.reset();
    outer->launch(stream);
    EXPECT_EQ(calls, 2);
}

TEST_F(CpuGraphs, AFailedCaptureLeavesTheStreamUsable) {
    CpuStream stream(team_);
    EXPECT_THROW(stream.capture([] { throw Unsupported("planted"); }), Unsupported);
    bool nested_refused = false;
    EXPECT_THROW(stream.capture([&] {
        nested_refused = true;
        (void)stream.capture([] {});
    }),
                 Error);
    EXPECT_TRUE(nested_refused);
    int calls = 0;
    stream.enqueue([&] { ++calls; });
    EXPECT_EQ(calls, 1);
}

TEST_F(CpuEvents, TellsTheTimeBetween) {
    CpuStream stream(team_);
    CpuEvent start;
    CpuEvent end;
    EXPECT_THROW(end.seconds_since(start), Error) << "a new event has no time";
    stream.record(start);
    EXPECT_THROW(end.seconds_since(start), Error);
    stream.record(end);
    stream.wait(end);
    EXPECT_GE(end.seconds_since(start), 0);
    EXPECT_EQ(end.seconds_since(end), 0);
    EXPECT_LE(start.seconds_since(end), 0);
}

TEST_F(CpuEvents, RecordedInAGraphItIsReachedAtEachLaunch) {
    CpuStream stream(team_);
    CpuEvent event;
    CpuEvent later;
    const auto graph = stream.capture([&] { stream.record(event); });
    EXPECT_THROW(event.seconds_since(event), Error);
    graph->launch(stream);
    stream.record(later);
    EXPECT_GE(later.seconds_since(event), 0);
    graph->launch(stream);
    EXPECT_LE(later.seconds_since(event), 0);
}

}  // namespace
}  // namespace assay::cpu
