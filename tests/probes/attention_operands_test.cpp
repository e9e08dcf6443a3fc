#include "probes/attention_operands.h"

#include <cstring>

#include <gtest/gtest.h>

#include "base/error.h"
#include "probes/attention_cases.h"
#include "probes/attention_check.h"
#include "probes/attention_sweep.h"
#include "probes/fake_bench.h"
#include "probes/matmul_operands.h"

namespace assay::probes {
namespace {

using work::AttentionLayout;
using work::AttentionPass;
using work::AttentionTensor;

const void* address(const ops::AttentionOperands& set, AttentionTensor tensor) {
    return tensor == AttentionTensor::q ? set.q : tensor == AttentionTensor::k ? set.k : set.v;
}

TEST(RotatingAttention, ColdRotatesOverTwiceTheLastLevelCache) {
    FakeBench bench;
    auto attention = small_attention();
    EXPECT_EQ(RotatingAttention(bench.device, attention, 7).sets(), 1);
    attention.cache = CacheState::cold;
    const RotatingAttention operands(bench.device, attention, 7);
    EXPECT_GE(operands.footprint_bytes(), 2 * bench.fake.facts().last_level_cache_bytes);
    EXPECT_EQ(operands.set(0).q, operands.set(static_cast<std::size_t>(operands.sets())).q);
    EXPECT_NE(std::memcmp(operands.set(0).k, operands.set(1).k, 64), 0) << "sets differ";
    EXPECT_TRUE(operands.note().empty());
}

TEST(RotatingAttention, FewerSetsWhereMemoryIsShortAndNoneWhereItLacks) {
    FakeBench bench;
    auto attention = small_attention();
    attention.cache = CacheState::cold;
    bench.fake.script.memory_bytes = std::size_t{1} << 20;
    EXPECT_FALSE(RotatingAttention(bench.device, attention, 7).note().empty());
    bench.fake.script.memory_bytes = 1000;
    EXPECT_NE(message_of<Unsupported>([&] {
                  RotatingAttention(bench.device, attention, 7);
              }).find("one set of tensors needs"),
              std::string::npos);
}

TEST(RotatingAttention, AForwardCaseHasNoGradients) {
    FakeBench bench;
    const RotatingAttention forward(bench.device, small_attention(), 7);
    EXPECT_EQ(forward.set(0).d_o, nullptr);
    EXPECT_EQ(forward.set(0).d_q, nullptr);
    EXPECT_EQ(forward.set(0).bias, nullptr);
    auto attention = small_attention("full", AttentionPass::backward);
    attention.problem.modifier.bias = true;
    const RotatingAttention backward(bench.device, attention, 7);
    const auto set = backward.set(0);
    for (const void* one : {set.d_o, set.bias, static_cast<const void*>(set.d_q),
                            static_cast<const void*>(set.d_k), static_cast<const void*>(set.d_v)}) {
        EXPECT_NE(one, nullptr);
    }
    EXPECT_EQ(static_cast<const std::byte*>(set.d_v)[5], kPoison);
}

// What the source says of a row is what lies at its position, in every layout.
TEST(RotatingAttention, HoldsWhatTheSourceMakesAnew) {
    FakeBench bench;
    for (const auto layout :
         {AttentionLayout::bshd, AttentionLayout::bhsd, AttentionLayout::packed}) {
        for (const bool ragged : {false, true}) {
            if (ragged && layout == AttentionLayout::bhsd) continue;
            auto attention = small_attention("full", AttentionPass::backward);
            auto& p = attention.problem;
            p.batch = 2;
            if (ragged) set_lengths(p, {5, 9});
            attention.layout = layout;
            work::lay_out(p, layout);
            const RotatingAttention operands(bench.device, attention, 7);
            const FilledSource source(attention, p, 7);
            const auto set = operands.set(0);
            std::vector<double> row(4);
            const auto at = [&](const void* from, AttentionTensor tensor, std::int64_t head) {
                const auto first = work::position(p, tensor, 1, head, 3);
                return work::load(p.type, from, static_cast<std::uint64_t>(first) + 2);
            };
            for (const auto tensor : {AttentionTensor::q, AttentionTensor::k, AttentionTensor::v}) {
                source.read(tensor, 1, 1, 3, row);
                EXPECT_EQ(row[2], at(address(set, tensor), tensor, 1)) << work::name(layout);
            }
            source.read_gradient(1, 2, 3, row);
            EXPECT_EQ(row[2], at(set.d_o, AttentionTensor::o, 2));
        }
    }
}

// Whatever size is the largest, and wherever its sets begin.
TEST(RotatingAttention, SharedMemoryHoldsWhatEachCaseWouldHaveFilledItsOwnWith) {
    FakeBench bench;
    const auto sweep = parse_attention_sweep("dim=4,6,9");
    for (const auto layout : {AttentionLayout::bshd, AttentionLayout::packed}) {
        auto attention = small_attention("full", AttentionPass::backward);
        attention.problem.modifier.bias = true;
        attention.cache = CacheState::cold;
        attention.layout = layout;
        std::vector<AttentionCase> cases;
        for (const auto size : sweep.sizes) cases.push_back(sweep.at(attention, size));
        const SharedAttention shared(bench.device, cases, 7);
        const void* q = nullptr;
        for (const auto& one : cases) {
            const RotatingAttention view(bench.device, one, shared);
            const RotatingAttention own(bench.device, one, 7);
            ASSERT_EQ(view.sets(), own.sets());
            EXPECT_TRUE(q == nullptr || q == view.set(0).q);
            q = view.set(0).q;
            for (const int set : {0, 1, own.sets() - 1}) {
                const auto at = static_cast<std::size_t>(set);
                const auto a = view.set(at), b = own.set(at);
                const auto rows = static_cast<std::size_t>(12 * one.problem.dim) * sizeof(float);
                EXPECT_EQ(std::memcmp(a.q, b.q, rows), 0);
                EXPECT_EQ(std::memcmp(a.k, b.k, rows), 0);
                EXPECT_EQ(std::memcmp(a.v, b.v, rows), 0);
                EXPECT_EQ(std::memcmp(a.d_o, b.d_o, rows), 0);
                EXPECT_EQ(std::memcmp(a.bias, b.bias, 4 * 12 * 12 * sizeof(float)), 0);
            }
            EXPECT_EQ(static_cast<const std::byte*>(view.set(0).d_v)[5], kPoison);
        }
    }
}

TEST(RotatingAttention, ACaseWithoutRoomLeavesTheSharedMemoryToOthers) {
    FakeBench bench;
    const auto sweep = parse_attention_sweep("dim=4,4096");
    std::vector<AttentionCase> cases;
    for (const auto size : sweep.sizes) cases.push_back(sweep.at(small_attention(), size));
    bench.fake.script.memory_bytes = 8000;
    const SharedAttention shared(bench.device, cases, 7);
    EXPECT_NO_THROW(RotatingAttention(bench.device, cases[0], shared));
    EXPECT_THROW(RotatingAttention(bench.device, cases[1], shared), Unsupported);
}

TEST(RotatingAttention, PaddingHoldsTheInnerRowsAndZerosElsewhere) {
    FakeBench bench;
    for (const auto layout : {AttentionLayout::bshd, AttentionLayout::packed}) {
        auto attention = small_attention("causal", AttentionPass::backward);
        attention.layout = layout;
        work::lay_out(attention.problem, layout);
        const auto padded = pad(parse_attention_sweep("dim=4,6"), attention, 4, 6);
        const RotatingAttention operands(bench.device, padded.outer, 7, &padded.inner);
        const FilledSource source(padded.outer, padded.inner, 7);
        const auto set = operands.set(0);
        std::vector<double> row(4);
        for (const auto tensor : {AttentionTensor::q, AttentionTensor::k, AttentionTensor::v}) {
            source.read(tensor, 0, 1, 5, row);
            const auto first = work::position(padded.outer.problem, tensor, 0, 1, 5);
            for (std::uint64_t i = 0; i < 6; ++i) {
                EXPECT_EQ(work::load(work::Type::fp32, address(set, tensor),
                                     static_cast<std::uint64_t>(first) + i),
                          i < 4 ? row[i] : 0);
            }
        }
    }
}

}  // namespace
}  // namespace assay::probes
