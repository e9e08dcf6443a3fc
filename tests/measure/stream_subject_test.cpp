#include "measure/stream_subject.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace assay::measure {
namespace {

// What reached the device's stream, in order: 'e' event, 'h' hold, 'r' release, 's' synchronize,
// 'c' call, 't' stamp, 'x' clear. Time moves only with calls, and by `event_s` with each event.
struct Timeline {
    std::string log;
    double now = 1;
    double event_s = 0;
    double tick = 0;
    bool held = false;

    double read() const { return tick > 0 ? std::floor(now / tick) * tick : now; }
    void call(double seconds) {
        log += 'c';
        now += seconds;
    }
};

class TimelineEvent final : public device::Event {
  public:
    double seconds_since(device::Event& start) override {
        return at - dynamic_cast<TimelineEvent&>(start).at;
    }
    double at = 0;
};

class TimelineStream final : public device::Stream {
  public:
    explicit TimelineStream(Timeline& timeline) : timeline_(timeline) {}
    void record(device::Event& event) override {
        timeline_.log += 'e';
        dynamic_cast<TimelineEvent&>(event).at = timeline_.read();
        timeline_.now += timeline_.event_s;
    }
    void wait(device::Event&) override {}
    void hold() override {
        EXPECT_FALSE(timeline_.held);
        timeline_.held = true;
        timeline_.log += 'h';
    }
    void release() override {
        EXPECT_TRUE(timeline_.held);
        timeline_.held = false;
        timeline_.log += 'r';
    }
    std::unique_ptr<device::Graph> capture(const std::function<void()>&) override { return {}; }
    void synchronize() override {
        EXPECT_FALSE(timeline_.held) << "this would wait for ever";
        timeline_.log += 's';
    }

  private:
    Timeline& timeline_;
};

// The clock between stamps i and i + 1 of a run is 1000 + i MHz.
class TimelineStamps final : public ops::ClockStamps {
  public:
    explicit TimelineStamps(Timeline& timeline) : timeline_(timeline) {}
    void reserve(std::size_t count) override {
        EXPECT_FALSE(timeline_.held);
        next_ = 0;
        reserved_ = count;
    }
    void enqueue(device::Stream&, std::size_t index) override {
        EXPECT_EQ(index, next_++);
        EXPECT_LT(index, reserved_);
        timeline_.log += 't';
        timeline_.now += 5e-6;
    }
    std::vector<double> clock_mhz(std::size_t count) override {
        EXPECT_EQ(count, next_);
        std::vector<double> clocks(count - 1);
        std::iota(clocks.begin(), clocks.end(), 1000);
        return clocks;
    }

  private:
    Timeline& timeline_;
    std::size_t next_ = 0, reserved_ = 0;
};

class TimelineDevice final : public device::Device {
  public:
    explicit TimelineDevice(Timeline& timeline) : timeline_(timeline) {}
    const record::DeviceFacts& facts() const override { return facts_; }
    device::MemoryState memory() const override { return {}; }
    std::unique_ptr<device::Buffer> allocate(std::size_t, int) override { return {}; }
    std::unique_ptr<device::Stream> create_stream() override {
        return std::make_unique<TimelineStream>(timeline_);
    }
    std::unique_ptr<device::Event> create_event() override {
        ++events;
        return std::make_unique<TimelineEvent>();
    }
    device::Telemetry& telemetry() override { throw std::logic_error("not used"); }
    void copy_in(void*, const void*, std::size_t) override {}
    void copy_out(void*, const void*, std::size_t) override {}
    device::Facility* facility(std::string_view) override { return stamps; }

    std::size_t events = 0;
    device::Facility* stamps = nullptr;

  private:
    Timeline& timeline_;
    record::DeviceFacts facts_;
};

class StreamSubjectTest : public testing::Test {
  public:
    Timeline timeline;
    TimelineDevice device{timeline};
};

TEST_F(StreamSubjectTest, SamplesShareTheEventBetweenThemAndNothingElseRuns) {
    timeline.event_s = 1e-9;
    StreamSubject subject("s", device, [&](device::Stream&, std::size_t) { timeline.call(1e-3); });
    timeline.log.clear();
    std::array<double, 3> seconds{};
    subject.run(seconds, 2);
    // The first run may load code, which waits for what runs: it isn't held.
    EXPECT_EQ(timeline.log, "ecceccecces");
    timeline.log.clear();
    subject.run(seconds, 2);
    EXPECT_EQ(timeline.log, "heccecceccers");
    for (const double sample : seconds) EXPECT_NEAR(sample, 1e-3, 1e-8);
}

TEST_F(StreamSubjectTest, EachSampleIsTheTimeOfItsOwnCalls) {
    StreamSubject subject("s", device, [&](device::Stream&, std::size_t call) {
        timeline.call(static_cast<double>(call + 1));
    });
    std::vector<double> seconds(300);
    subject.run(seconds, 1);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        EXPECT_DOUBLE_EQ(seconds[i], static_cast<double>(i + 1));
    }
}

TEST_F(StreamSubjectTest, CallsAreCountedOverItsWholeLife) {
    std::vector<std::size_t> calls;
    StreamSubject subject("s", device, [&](device::Stream&, std::size_t call) {
        calls.push_back(call);
        timeline.call(1e-3);
    });
    std::array<double, 2> seconds{};
    subject.run(seconds, 3);
    subject.run(std::span(seconds).first(1), 2);
    EXPECT_EQ(calls, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(StreamSubjectTest, NeverHoldsMoreThanADevicesQueueTakes) {
    StreamSubject subject("s", device, [&](device::Stream&, std::size_t) { timeline.call(1e-6); });
    for (const int calls_per_sample : {1, 10, 127, 128, 5000}) {
        timeline.log.clear();
        std::vector<double> seconds(400);
        subject.run(seconds, calls_per_sample);
        for (std::size_t at = 0; (at = timeline.log.find('h', at)) != std::string::npos; ++at) {
            EXPECT_LE(timeline.log.find('r', at) - at, 130u) << calls_per_sample;
        }
        for (const double sample : seconds) EXPECT_NEAR(sample, 1e-6, 1e-9);
    }
}

TEST_F(StreamSubjectTest, CallsThatMakeTheHostWaitAreNeverHeld) {
    StreamSubject subject(
        "s", device,
        [&](device::Stream&, std::size_t) {
            EXPECT_FALSE(timeline.held) << "this would wait for ever";
            timeline.call(1e-3);
        },
        {}, Launching::free);
    timeline.log.clear();
    std::array<double, 2> seconds{};
    subject.run(seconds, 2);
    EXPECT_EQ(timeline.log, "eccecces");
    for (const double sample : seconds) EXPECT_NEAR(sample, 1e-3, 1e-12);
}

TEST_F(StreamSubjectTest, EventsAreUsedAgain) {
    StreamSubject subject("s", device, [&](device::Stream&, std::size_t) { timeline.call(1e-3); });
    std::vector<double> seconds(500);
    subject.run(seconds, 1);
    const std::size_t events = device.events;
    for (int i = 0; i < 10; ++i) subject.run(seconds, 1);
    EXPECT_EQ(device.events, events);
}

TEST_F(StreamSubjectTest, TheResolutionIsTheTickOfACoarseTimer) {
    timeline.event_s = 30e-9;
    timeline.tick = 10e-6;
    StreamSubject subject("s", device, [](device::Stream&, std::size_t) {});
    EXPECT_NEAR(subject.resolution(), 10e-6, 1e-9);
}

TEST_F(StreamSubjectTest, TheResolutionOfAFineTimerIsWhatAnEventCosts) {
    timeline.event_s = 30e-9;
    StreamSubject subject("s", device, [](device::Stream&, std::size_t) {});
    EXPECT_NEAR(subject.resolution(), 30e-9, 1e-12);
}

TEST_F(StreamSubjectTest, ATimerThatStandsStillHasNoResolution) {
    StreamSubject subject("s", device, [](device::Stream&, std::size_t) {});
    EXPECT_EQ(subject.resolution(), 0);
}

TEST_F(StreamSubjectTest, AFailingCallLeavesNoStreamHeld) {
    StreamSubject subject("s", device, [](device::Stream&, std::size_t) {
        throw std::runtime_error("no kernel image");
    });
    std::array<double, 4> seconds{};
    EXPECT_THROW(subject.run(seconds, 1), std::runtime_error);
    EXPECT_FALSE(timeline.held);
}

class StampedSubjectTest : public StreamSubjectTest {
  public:
    StampedSubjectTest() { device.stamps = &stamps; }

    // A run of `samples`, after one that tells how long a call takes.
    std::vector<double> run(StreamSubject& subject, std::size_t samples, int calls_per_sample = 1) {
        std::vector<double> seconds(1);
        subject.run(seconds, calls_per_sample);
        timeline.log.clear();
        seconds.resize(samples);
        subject.run(seconds, calls_per_sample);
        return seconds;
    }

    TimelineStamps stamps{timeline};
};

TEST_F(StampedSubjectTest, WithoutTheFacilityThereAreNoClocks) {
    device.stamps = nullptr;
    StreamSubject subject("s", device, [&](device::Stream&, std::size_t) { timeline.call(1e-3); });
    run(subject, 4);
    EXPECT_TRUE(subject.clock_mhz().empty());
}

TEST_F(StampedSubjectTest, ALongCallHasStampsBeforeAndAfterItOutsideItsTime) {
    StreamSubject subject("s", device, [&](device::Stream&, std::size_t) { timeline.call(1e-3); });
    const auto seconds = run(subject, 3);
    EXPECT_EQ(timeline.log, "htecetecetecetrs");
    for (const double sample : seconds) EXPECT_NEAR(sample, 1e-3, 1e-12);
    const auto clocks = subject.clock_mhz();
    EXPECT_EQ(std::vector(clocks.begin(), clocks.end()), (std::vector<double>{1000, 1001, 1002}));
}

TEST_F(StampedSubjectTest, ShortCallsShareTheStampsOfTwoHundredMicroseconds) {
    StreamSubject subject("s", device, [&](device::Stream&, std::size_t) { timeline.call(70e-6); });
    const auto seconds = run(subject, 5);
    EXPECT_EQ(timeline.log, "htececetececetecetrs");
    for (const double sample : seconds) EXPECT_NEAR(sample, 70e-6, 1e-12);
    const auto clocks = subject.clock_mhz();
    EXPECT_EQ(std::vector(clocks.begin(), clocks.end()),
              (std::vector<double>{1000, 1000, 1001, 1001, 1002}));
}

TEST_F(StampedSubjectTest, CallsThatTakeNoTimeShareStampsToo) {
    StreamSubject subject("s", device, [&](device::Stream&, std::size_t) { timeline.call(0); });
    run(subject, 60);
    EXPECT_EQ(std::ranges::count(timeline.log, 't'), 2);
}

TEST_F(StampedSubjectTest, ClocksLandOnTheSamplesOfTheirBlocksInEveryGroup) {
    for (const double call_s : {1e-6, 30e-6, 70e-6, 1e-3}) {
        for (const int calls : {1, 3, 200}) {
            double block_clock = 0;
            std::vector<double> expected;  // by what stood in the queue, not by the layout
            StreamSubject subject("s", device,
                                  [&](device::Stream&, std::size_t) { timeline.call(call_s); });
            const auto seconds = run(subject, 333, calls);
            double stamp = 999;
            int called = 0;
            for (const char entry : timeline.log) {
                if (entry == 't') block_clock = ++stamp;
                if (entry == 'c' && ++called % calls == 0) expected.push_back(block_clock);
            }
            const auto clocks = subject.clock_mhz();
            EXPECT_EQ(std::vector(clocks.begin(), clocks.end()), expected)
                << call_s << " " << calls;
            for (const double sample : seconds) EXPECT_NEAR(sample, call_s, 1e-12);
            EXPECT_EQ(timeline.log[timeline.log.find_last_not_of("rs")], 't');
            for (std::size_t at = 0; (at = timeline.log.find('h', at)) != std::string::npos; ++at) {
                EXPECT_LE(timeline.log.find('r', at) - at - 1, 128u) << call_s << " " << calls;
                EXPECT_EQ(timeline.log[at + 1], 't') << "a group has a stamp of its own";
            }
        }
    }
}

TEST_F(StreamSubjectTest, ClearsOnlyWhereThereIsSomethingToClearWith) {
    StreamSubject without("s", device, [](device::Stream&, std::size_t) {});
    StreamSubject with(
        "s", device, [](device::Stream&, std::size_t) {}, [&] { timeline.log += 'x'; });
    timeline.log.clear();
    without.clear_caches();
    EXPECT_EQ(timeline.log, "");
    with.clear_caches();
    EXPECT_EQ(timeline.log, "x");
}

}  // namespace
}  // namespace assay::measure
