// What other rooms' tests rest on.
#include "support/fake_device.h"

#include <array>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "ops/clock_stamps.h"
#include "ops/fill.h"
#include "ops/matmul.h"
#include "ops/memory.h"
#include "ops/transfer.h"

namespace assay::device {
namespace {

const work::FillSpec kOnes{work::Distribution::ones, 0, 0};

float first(FakeDevice& device, Buffer& buffer) {
    float value = 0;
    device.copy_out(&value, buffer.data(), sizeof value);
    return value;
}

TEST(FakeDevice, RunsNothingBeforeItIsWaitedFor) {
    FakeDevice device;
    const auto stream = device.create_stream();
    const auto buffer = device.allocate(4096);
    device.need<ops::Fill>().enqueue(*stream, kOnes, work::Type::fp32, 1024, buffer->data());
    EXPECT_NE(first(device, *buffer), 1.0F);
    stream->synchronize();
    EXPECT_EQ(first(device, *buffer), 1.0F);
}

TEST(FakeDevice, TakesTheTimeTheScriptSays) {
    FakeDevice device;
    device.script.seconds = [](std::size_t call, double) { return static_cast<double>(call + 1); };
    const auto stream = device.create_stream();
    const auto buffer = device.allocate(64);
    std::vector<std::unique_ptr<Event>> events;
    auto& fill = device.need<ops::Fill>();
    const double start = device.now();
    for (int i = 0; i < 4; ++i) {
        events.push_back(device.create_event());
        stream->record(*events.back());
        fill.enqueue(*stream, kOnes, work::Type::fp32, 16, buffer->data());
    }
    EXPECT_EQ(device.now(), start);
    EXPECT_EQ(events[1]->seconds_since(*events[0]), 1);
    EXPECT_EQ(events[3]->seconds_since(*events[0]), 6);
    EXPECT_EQ(device.now(), start + 6);
    stream->synchronize();
    EXPECT_EQ(device.now(), start + 10);
    EXPECT_EQ(device.calls(), 4U);
}

TEST(FakeDevice, StreamsRunSideBySideUnlessOneWaits) {
    FakeDevice device;
    const auto one = device.create_stream(), other = device.create_stream();
    const auto buffer = device.allocate(64);
    const auto done = device.create_event();
    auto& fill = device.need<ops::Fill>();
    const double start = device.now();
    fill.enqueue(*one, kOnes, work::Type::fp32, 16, buffer->data());
    fill.enqueue(*other, kOnes, work::Type::fp32, 16, buffer->data());
    other->synchronize();
    EXPECT_DOUBLE_EQ(device.now(), start + 1e-3);
    fill.enqueue(*one, kOnes, work::Type::fp32, 16, buffer->data());
    one->record(*done);
    other->wait(*done);
    fill.enqueue(*other, kOnes, work::Type::fp32, 16, buffer->data());
    other->synchronize();
    EXPECT_DOUBLE_EQ(device.now(), start + 3e-3);
}

TEST(FakeDevice, RefusesToWaitForEver) {
    FakeDevice device;
    const auto stream = device.create_stream();
    const auto begin = device.create_event(), end = device.create_event();
    EXPECT_THROW(end->seconds_since(*begin), std::logic_error);
    stream->hold();
    stream->record(*begin);
    stream->record(*end);
    EXPECT_THROW(stream->synchronize(), std::logic_error);
    EXPECT_THROW(end->seconds_since(*begin), std::logic_error);
    stream->release();
    EXPECT_EQ(end->seconds_since(*begin), 0);
}

TEST(FakeDevice, LaunchesACapturedGraph) {
    FakeDevice device;
    const auto stream = device.create_stream();
    const auto buffer = device.allocate(64);
    auto& fill = device.need<ops::Fill>();
    const auto graph = stream->capture([&] {
        for (int i = 0; i < 3; ++i) {
            fill.enqueue(*stream, kOnes, work::Type::fp32, 16, buffer->data());
        }
    });
    EXPECT_EQ(device.calls(), 0U);
    const double start = device.now();
    graph->launch(*stream);
    graph->launch(*stream);
    stream->synchronize();
    EXPECT_EQ(device.calls(), 6U);
    EXPECT_DOUBLE_EQ(device.now(), start + 6e-3);
    EXPECT_EQ(first(device, *buffer), 1.0F);
}

std::vector<float> product(FakeDevice& device, const work::Matmul& problem,
                           const std::vector<float>& a, const std::vector<float>& b) {
    const auto stream = device.create_stream();
    const auto da = device.allocate(a.size() * 4), db = device.allocate(b.size() * 4);
    const auto bias = device.allocate(static_cast<std::size_t>(problem.n) * 4);
    std::vector<float> c(work::c_elements(problem));
    const auto dc = device.allocate(c.size() * 4);
    device.copy_in(da->data(), a.data(), a.size() * 4);
    device.copy_in(db->data(), b.data(), b.size() * 4);
    device.need<ops::Fill>().enqueue(*stream, kOnes, work::Type::fp32,
                                     static_cast<std::uint64_t>(problem.n), bias->data());
    const auto prepared = device.need<ops::Matmul>().prepare(problem);
    prepared->enqueue(*stream, {da->data(), db->data(), bias->data(), dc->data()});
    stream->synchronize();
    device.copy_out(c.data(), dc->data(), c.size() * 4);
    return c;
}

TEST(FakeDevice, MultipliesInEveryLayout) {
    FakeDevice device;
    work::Matmul problem;
    problem.m = 2;
    problem.n = 2;
    problem.k = 3;
    const std::vector<float> a{1, 2, 3, 4, 5, 6}, a_transposed{1, 4, 2, 5, 3, 6};
    const std::vector<float> b{7, 8, 9, 10, 11, 12}, b_transposed{7, 9, 11, 8, 10, 12};
    const std::vector<float> c{58, 64, 139, 154};
    EXPECT_EQ(product(device, problem, a, b), c);
    problem.layout = work::Layout::nt;
    EXPECT_EQ(product(device, problem, a, b_transposed), c);
    problem.layout = work::Layout::tn;
    EXPECT_EQ(product(device, problem, a_transposed, b), c);
    problem.layout = work::Layout::tt;
    EXPECT_EQ(product(device, problem, a_transposed, b_transposed), c);
    problem.epilogue = work::Epilogue::bias_gelu;  // of values so large, the values
    EXPECT_EQ(product(device, problem, a_transposed, b_transposed),
              (std::vector<float>{59, 65, 140, 155}));
}

TEST(FakeDevice, MultipliesEachProductOfABatch) {
    FakeDevice device;
    work::Matmul problem;
    problem.m = problem.n = problem.k = 1;
    problem.batch = 3;
    EXPECT_EQ(product(device, problem, {1, 2, 3}, {4, 5, 6}), (std::vector<float>{4, 10, 18}));
}

TEST(FakeDevice, RunsEveryMemoryKernel) {
    FakeDevice device;
    const auto stream = device.create_stream();
    const auto a = device.allocate(64), b = device.allocate(64), c = device.allocate(64);
    device.need<ops::Fill>().enqueue(*stream, kOnes, work::Type::fp32, 16, a->data());
    device.need<ops::Fill>().enqueue(*stream, kOnes, work::Type::fp32, 16, b->data());
    const auto result = [&](work::MemoryOp op) {
        const auto prepared = device.need<ops::Memory>().prepare({op, 64, false, kAnyNode});
        prepared->enqueue(*stream, {a->data(), b->data(), c->data()});
        stream->synchronize();
        return op == work::MemoryOp::read ? static_cast<float>(prepared->sum()) : first(device, *c);
    };
    EXPECT_EQ(result(work::MemoryOp::copy), 1.0F);
    EXPECT_EQ(result(work::MemoryOp::read), 16.0F);
    EXPECT_EQ(result(work::MemoryOp::write), 3.0F);
    EXPECT_EQ(result(work::MemoryOp::scale), 3.0F);
    EXPECT_EQ(result(work::MemoryOp::add), 2.0F);
    EXPECT_EQ(result(work::MemoryOp::triad), 4.0F);
    device.script.wrong_by = 0.5;
    EXPECT_EQ(result(work::MemoryOp::triad), 6.0F);
    EXPECT_EQ(result(work::MemoryOp::read), 24.0F);
}

TEST(FakeDevice, PlantsTheErrorsOfItsScript) {
    FakeDevice device;
    device.script.lacks = {"memory"};
    device.script.lacks_types = {work::Type::fp16};
    EXPECT_THROW(device.need<ops::Memory>(), Unsupported);
    work::Matmul problem;
    problem.m = problem.n = problem.k = 1;
    EXPECT_EQ(product(device, problem, {2}, {4}), std::vector<float>{8});
    device.script.wrong_by = 0.25;
    EXPECT_EQ(product(device, problem, {2}, {4}), std::vector<float>{10});
    problem.operand = work::Type::fp16;
    EXPECT_THROW(device.need<ops::Matmul>().prepare(problem), Unsupported);
    problem.operand = work::Type::fp32;
    device.script.lost_at_call = device.calls() + 1;
    EXPECT_THROW(product(device, problem, {2}, {4}), DeviceLost);
    EXPECT_THROW(device.create_stream()->synchronize(), DeviceLost);
}

TEST(FakeDevice, CountsItsMemory) {
    FakeDevice device;
    device.script.memory_bytes = 1000;
    {
        const auto buffer = device.allocate(600);
        EXPECT_EQ(device.memory().free, 400U);
        try {
            device.allocate(401);
            FAIL() << "overcommitted";
        } catch (const Unsupported& error) {
            EXPECT_STREQ(error.what(), "fake:0 needs 401 B, 400 B are free");
        }
    }
    EXPECT_EQ(device.memory().free, 1000U);
}

TEST(FakeDevice, ReadsScriptedTelemetry) {
    FakeDevice device;
    device.script.reading = [](double time) {
        Reading reading;
        reading.power_w = 2 * time;
        return reading;
    };
    device.script.throttle_reasons = {"hot"};
    device.advance(5);
    const auto reading = device.telemetry().read();
    EXPECT_EQ(reading.t, device.now());
    EXPECT_EQ(reading.power_w, 2 * device.now());
    EXPECT_EQ(device.telemetry().throttle_reasons(), std::vector<std::string>{"hot"});
}

TEST(FakeDevice, CopiesBetweenItsMemories) {
    FakeDevice device;
    const auto stream = device.create_stream();
    auto& transfers = device.need<ops::Transfer>();
    for (const auto what : work::all_transfers()) {
        const auto transfer = transfers.prepare({what, 64});
        for (const auto& ends : transfer->ends()) {
            *static_cast<float*>(ends.from) = 3;
            *static_cast<float*>(ends.to) = 0;
        }
        transfer->enqueue(*stream);
        EXPECT_EQ(*static_cast<float*>(transfer->ends()[0].to), 0) << "queued, not run";
        stream->synchronize();
        EXPECT_EQ(transfer->ends().size(), what == work::Transfer::both_ways ? 2U : 1U);
        for (const auto& ends : transfer->ends()) EXPECT_EQ(*static_cast<float*>(ends.to), 3);
        EXPECT_FALSE(transfer->waits());
    }
    const auto pageable =
        transfers.prepare({work::Transfer::host_to_device, 64, work::HostMemory::pageable});
    EXPECT_TRUE(pageable->waits());
    stream->hold();
    EXPECT_THROW(pageable->enqueue(*stream), std::logic_error);
    stream->release();
}

TEST(FakeDevice, HasTheWaysToAProductThatTheScriptSays) {
    FakeDevice device;
    auto& op = device.need<ops::Matmul>();
    const work::Matmul problem{.m = 1, .n = 1, .k = 1};
    EXPECT_TRUE(op.entries().empty());
    EXPECT_TRUE(op.algorithms(problem, 9).empty());
    EXPECT_EQ(op.prepare(problem)->implementation().algorithm, "plain loops");
    device.script.entries = {{.name = "lt"}, {.name = "ex"}};
    device.script.algorithms = {{.name = "a", .slowdown = 2},
                                {.name = "b", .wrong_by = 1},
                                {.name = "c", .unsupported = true},
                                {.name = "d", .fails = true}};
    EXPECT_EQ(op.entries(), (std::vector<std::string>{"lt", "ex"}));
    EXPECT_EQ(op.algorithms(problem, 1), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(op.prepare(problem)->implementation().algorithm, "a");
    EXPECT_EQ(op.prepare(problem, {"ex", ""})->implementation().algorithm, "ex");
    EXPECT_THROW(op.prepare(problem, {"", "c"}), Unsupported);
    EXPECT_THROW(op.prepare(problem, {"", "z"}), Unsupported);

    const auto buffers = device.allocate(12);
    auto* data = static_cast<float*>(buffers->data());
    data[0] = 2, data[1] = 3;
    const auto stream = device.create_stream();
    EXPECT_THROW(op.prepare(problem, {"", "d"})->enqueue(*stream, {}), Error);
    for (const auto& [algorithm, product, seconds] :
         {std::tuple{"a", 6.0F, 2e-3}, std::tuple{"b", 12.0F, 1e-3}}) {
        const auto prepared = op.prepare(problem, {"", algorithm});
        const double start = device.now();
        prepared->enqueue(*stream, {data, data + 1, nullptr, data + 2});
        stream->synchronize();
        EXPECT_EQ(data[2], product);
        EXPECT_NEAR(device.now() - start, seconds, 1e-12);
    }
}

TEST(FakeDevice, StampsTheClockThatTheScriptSays) {
    FakeDevice device;
    EXPECT_EQ(device.facility(ops::ClockStamps::kName), nullptr);
    device.script.clock_mhz = [start = device.now()](double time) { return 1e6 * (time - start); };
    auto& stamps = device.need<ops::ClockStamps>();
    const auto stream = device.create_stream();
    const auto buffer = device.allocate(64);
    stamps.reserve(3);
    for (std::size_t i = 0; i < 3; ++i) {
        stamps.enqueue(*stream, i);
        device.need<ops::Fill>().enqueue(*stream, kOnes, work::Type::fp32, 16, buffer->data());
    }
    stream->synchronize();
    const auto clocks = stamps.clock_mhz(3);
    ASSERT_EQ(clocks.size(), 2U);
    EXPECT_NEAR(clocks[0], 502.5, 1e-6);  // in the middle of 5 us and a call of 1 ms
    EXPECT_NEAR(clocks[1], 1507.5, 1e-6);
}

}  // namespace
}  // namespace assay::device
