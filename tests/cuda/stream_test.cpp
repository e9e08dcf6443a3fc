#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "base/error.h"
#include "cuda/check.h"
#include "device_under_test.h"

namespace assay::cuda {
namespace {

class CudaStreams : public WithGpu {
  protected:
    void fill(device::Stream& stream, device::Buffer& buffer, work::Distribution distribution) {
        device().need<ops::Fill>().enqueue(stream, {distribution, 0, 0}, work::Type::fp32,
                                           buffer.size() / sizeof(float), buffer.data());
    }
    float first(device::Buffer& buffer) {
        float value = -1;
        device().copy_out(&value, buffer.data(), sizeof value);
        return value;
    }
};

TEST_F(CudaStreams, HoldWhatIsQueuedUntilEachIsReleased) {
    const auto stream = device().create_stream();
    const auto buffer = device().allocate(1 << 20);
    const auto event = device().create_event();
    fill(*stream, *buffer, work::Distribution::zeros);
    stream->synchronize();
    stream->hold();
    fill(*stream, *buffer, work::Distribution::ones);
    stream->release();
    stream->hold();  // queued behind the one that was let go
    fill(*stream, *buffer, work::Distribution::zeros);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(first(*buffer), 1);
    stream->release();
    stream->synchronize();
    EXPECT_EQ(first(*buffer), 0);
    stream->release();  // one too many changes nothing
    stream->hold();
    fill(*stream, *buffer, work::Distribution::ones);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(first(*buffer), 0);
    stream->release();
    stream->synchronize();
    EXPECT_EQ(first(*buffer), 1);
}

TEST_F(CudaStreams, TimeWhatRunsBetweenEvents) {
    const auto stream = device().create_stream();
    const auto start = device().create_event();
    const auto end = device().create_event();
    const auto buffer = device().allocate(std::size_t{1} << 30);
    fill(*stream, *buffer, work::Distribution::ones);
    stream->record(*start);
    for (int i = 0; i < 10; ++i) fill(*stream, *buffer, work::Distribution::ones);
    stream->record(*end);
    const double seconds = end->seconds_since(*start);
    EXPECT_GT(seconds, 10 * static_cast<double>(buffer->size()) / 100e12);  // no GPU is so fast
    EXPECT_LT(seconds, 1);
}

TEST_F(CudaStreams, WaitForEventsOfOthers) {
    const auto one = device().create_stream();
    const auto other = device().create_stream();
    const auto buffer = device().allocate(1 << 20);
    const auto event = device().create_event();
    fill(*one, *buffer, work::Distribution::zeros);
    one->synchronize();
    one->hold();
    fill(*one, *buffer, work::Distribution::ones);
    one->record(*event);
    other->wait(*event);
    fill(*other, *buffer, work::Distribution::ints);
    one->release();
    other->synchronize();
    const double expected = work::fill_value({work::Distribution::ints, 0, 0}, work::Type::fp32, 0);
    EXPECT_EQ(first(*buffer), expected);
}

TEST_F(CudaStreams, ReplayAGraphAndSurviveAFailedCapture) {
    const auto stream = device().create_stream();
    const auto buffer = device().allocate(1 << 20);
    EXPECT_THROW((void)stream->capture([] { throw Error("in the middle"); }), Error);
    const auto graph = stream->capture([&] { fill(*stream, *buffer, work::Distribution::ones); });
    fill(*stream, *buffer, work::Distribution::zeros);
    stream->synchronize();
    EXPECT_EQ(first(*buffer), 0) << "what is captured must not run";
    graph->launch(*stream);
    stream->synchronize();
    EXPECT_EQ(first(*buffer), 1);
}

TEST_F(CudaStreams, StampAClockThatTheDeviceCanHave) {
    auto& stamps = device().need<ops::ClockStamps>();
    const auto stream = device().create_stream();
    const auto buffer = device().allocate(std::size_t{1} << 30);
    stamps.reserve(4);
    for (std::size_t i = 0; i < 4; ++i) {
        stamps.enqueue(*stream, i);
        fill(*stream, *buffer, work::Distribution::normal);
    }
    stream->synchronize();
    const auto clocks = stamps.clock_mhz(4);
    ASSERT_EQ(clocks.size(), 3U);
    for (const double mhz : clocks) {
        EXPECT_GT(mhz, 100);
        EXPECT_LT(mhz, 1.02 * device().facts().max_clock_mhz.value());
    }
}

TEST_F(CudaStreams, ReadTheTelemetryThatTheDriverHas) {
    auto& telemetry = device().telemetry();
    const auto reading = telemetry.read();
    EXPECT_GT(reading.clock_mhz.value_or(0), 0);
    EXPECT_GT(reading.power_w.value_or(0), 1);
    EXPECT_GT(reading.energy_j.value_or(0), 0);
    EXPECT_GT(reading.temperature_c.value_or(0), 1);
    EXPECT_TRUE(telemetry.settings().contains("power_limit_w"));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_GT(telemetry.read().t, reading.t) << "a thread asks again";
}

TEST_F(CudaStreams, RefuseMemoryThatDoesntFit) {
    try {
        (void)device().allocate(std::size_t{1} << 45);
        FAIL();
    } catch (const Unsupported& error) {
        EXPECT_NE(std::string(error.what()).find("32.0 TiB are needed"), std::string::npos)
            << error.what();
    }
    // And go on after it.
    EXPECT_NO_THROW((void)device().allocate(1 << 20));
}

using CudaStreamsDeathTest = CudaStreams;

TEST_F(CudaStreamsDeathTest, LoseTheDeviceByAnIllegalAccess) {
    // In a program of its own: the device is lost for the process.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto misuse = [this] {
        const auto stream = device().create_stream();
        device().need<ops::Fill>().enqueue(*stream, {}, work::Type::fp32, 1 << 20,
                                           reinterpret_cast<void*>(64));
        try {
            stream->synchronize();
        } catch (const DeviceLost& lost) {
            std::fprintf(stderr, "lost: %s\n", lost.what());
            std::_Exit(7);
        }
    };
    EXPECT_EXIT(misuse(), testing::ExitedWithCode(7), "lost: cudaStreamSynchronize.*cuda:0");
}

}  // namespace
}  // namespace assay::cuda
