#include "probes/matmul_operands.h"

#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include "measure/stream_subject.h"
#include "probes/fake_bench.h"

namespace assay::probes {
namespace {

constexpr std::uint64_t kCache = std::uint64_t{1} << 20;  // the fake device's last level
constexpr std::uint64_t kSeed = 7;

// A set takes 3 x 64 KiB.
MatmulCase square(CacheState cache = CacheState::cold) {
    MatmulCase matmul;
    matmul.problem = {.m = 128, .n = 128, .k = 128};
    matmul.cache = cache;
    return matmul;
}

TEST(RotatingOperands, ColdSetsTakeTwiceTheLastLevelCache) {
    device::FakeDevice device;
    const RotatingOperands operands(device, square(), kSeed);
    EXPECT_EQ(operands.sets(), 11);  // 2 MiB / 192 KiB, rounded up
    EXPECT_GE(operands.footprint_bytes(), 2 * kCache);
    EXPECT_EQ(operands.footprint_bytes(), 11U * 3 * 64 * 1024);
    EXPECT_EQ(operands.note(), "");
}

TEST(RotatingOperands, AreTwoSetsAtLeast) {
    auto facts = device::FakeDevice::fake_facts();
    facts.last_level_cache_bytes = 0;  // a device that doesn't tell
    device::FakeDevice device(facts);
    EXPECT_EQ(RotatingOperands(device, square(), kSeed).sets(), 2);
}

TEST(RotatingOperands, HotIsOneSet) {
    device::FakeDevice device;
    const RotatingOperands operands(device, square(CacheState::hot), kSeed);
    EXPECT_EQ(operands.sets(), 1);
    EXPECT_EQ(operands.set(0).a, operands.set(1).a);
}

TEST(RotatingOperands, EverySetHasItsOwnPlaceAndContents) {
    device::FakeDevice device;
    auto matmul = square();
    matmul.problem.m = 3;  // so that A is padded to the alignment
    matmul.problem.epilogue = work::Epilogue::bias;
    const RotatingOperands operands(device, matmul, kSeed);
    std::set<const void*> places;
    for (std::size_t i = 0; i < static_cast<std::size_t>(operands.sets()); ++i) {
        const auto one = operands.set(i);
        for (const void* place : {one.a, one.b, one.bias, static_cast<const void*>(one.c)}) {
            EXPECT_TRUE(places.insert(place).second);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place) % 64, 0U);
        }
        if (i > 0) {
            EXPECT_NE(std::memcmp(one.a, operands.set(0).a, 64), 0) << i;
            EXPECT_NE(std::memcmp(one.b, operands.set(0).b, 64), 0) << i;
        }
    }
    EXPECT_EQ(operands.set(static_cast<std::size_t>(operands.sets())).c, operands.set(0).c);
}

TEST(RotatingOperands, SetZeroHoldsWhatTheCheckRecomputes) {
    device::FakeDevice device;
    auto matmul = square();
    matmul.problem.operand = work::Type::bf16;
    matmul.problem.epilogue = work::Epilogue::bias;
    matmul.inputs = work::Distribution::uniform;
    const RotatingOperands operands(device, matmul, kSeed);
    const auto one = operands.set(0);
    for (const std::uint64_t i : {0U, 1U, 16383U}) {
        EXPECT_EQ(work::load(work::Type::bf16, one.a, i),
                  work::fill_value({matmul.inputs, kSeed, kStreamA}, work::Type::bf16, i));
        EXPECT_EQ(work::load(work::Type::bf16, one.b, i),
                  work::fill_value({matmul.inputs, kSeed, kStreamB}, work::Type::bf16, i));
    }
    EXPECT_EQ(work::load(work::Type::fp32, one.bias, 127),
              work::fill_value({matmul.inputs, kSeed, kStreamBias}, work::Type::fp32, 127));
}

TEST(RotatingOperands, UseHalfOfTheFreeMemoryAtMostAndSaySo) {
    device::FakeDevice device;
    device.script.memory_bytes = std::size_t{1} << 20;
    const RotatingOperands operands(device, square(), kSeed);
    EXPECT_EQ(operands.sets(), 2);  // 512 KiB / 192 KiB
    EXPECT_EQ(operands.note(),
              "operands rotate over 2 sets where a cold run wants 11: 1.00 MiB are free");
}

TEST(RotatingOperands, OneSetThatFillsTheMemoryIsTaken) {
    device::FakeDevice device;
    device.script.memory_bytes = 3 * 64 * 1024;
    const RotatingOperands operands(device, square(), kSeed);
    EXPECT_EQ(operands.sets(), 1);
    EXPECT_NE(operands.note(), "");
    EXPECT_EQ(device.memory().free, 0U);
}

TEST(RotatingOperands, TooLargeIsRefusedBeforeAnythingIsAllocated) {
    FakeBench bench;
    bench.fake.script.memory_bytes = 100 * 1024;
    bench.device.on_allocate = [](std::size_t, int) { FAIL() << "memory was allocated"; };
    for (const auto cache : {CacheState::cold, CacheState::hot}) {
        EXPECT_EQ(
            message_of<Unsupported>([&] { RotatingOperands(bench.device, square(cache), kSeed); }),
            "one set of operands needs 192 KiB, and 100 KiB of fake:0 are free");
    }
    auto huge = square();
    huge.problem.m = huge.problem.n = 1 << 30;
    EXPECT_NE(
        message_of<Unsupported>([&] { RotatingOperands(bench.device, huge, kSeed); }).find("EiB"),
        std::string::npos);
    EXPECT_EQ(bench.fake.calls(), 0U);
}

TEST(RotatingSubject, CallsOneSetAfterTheOther) {
    FakeBench bench;
    std::vector<const void*> called;
    TimedMatmul op(bench.fake, [&](const work::Matmul&, const ops::MatmulOperands& operands) {
        called.push_back(operands.a);
        return 1e-3;
    });
    auto matmul = square();
    matmul.problem = {.m = 2, .n = 2, .k = 2};
    bench.fake.script.memory_bytes = std::size_t{6} * 768;  // for three sets
    const RotatingOperands operands(bench.device, matmul, kSeed);
    ASSERT_EQ(operands.sets(), 3);
    const auto prepared = op.prepare(matmul.problem, {});
    int cleared = 0;
    const auto subject =
        rotating_subject("rotating", bench.device, *prepared, operands, [&] { ++cleared; });
    std::vector<double> seconds(2);
    subject->run(seconds, 2);
    subject->run({seconds.data(), 1}, 1);
    std::vector<const void*> turns;
    for (const std::size_t set : {0U, 1U, 2U, 0U, 1U}) turns.push_back(operands.set(set).a);
    EXPECT_EQ(called, turns);
    EXPECT_EQ(cleared, 0);
    subject->clear_caches();
    EXPECT_EQ(cleared, 1);
}

TEST(RotatingOperands, FillsBWithItsOwnType) {
    device::FakeDevice device;
    auto matmul = square(CacheState::hot);
    matmul.problem.operand = work::Type::fp8_e4m3fn;
    matmul.problem.operand_b = work::Type::fp16;
    matmul.problem.output = work::Type::bf16;
    const RotatingOperands operands(device, matmul, kSeed);
    EXPECT_EQ(operands.footprint_bytes(), 128U * 128 * (1 + 2 + 2));
    for (const std::uint64_t i : {0U, 777U, 128U * 128U - 1U}) {
        EXPECT_EQ(work::load(work::Type::fp16, operands.set(0).b, i),
                  work::fill_value({matmul.inputs, kSeed, kStreamB}, work::Type::fp16, i));
    }
}

}  // namespace
}  // namespace assay::probes
