#include "measure/stream_subject.h"

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace assay::measure {
namespace {

// What reached the device's stream, in order: 'e' event, 'h' hold, 'r' release, 's' synchronize,
// 'c' call, 'x' clear. Time moves only with calls, and by `event_s` with each event.
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
    device::Facility* facility(std::string_view) override { return nullptr; }

    std::size_t events = 0;

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
