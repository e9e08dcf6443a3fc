// The soft cap's tanh, and a cap far above the scores, which must leave them as they are.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "attention_arrays.h"
#include "attention_problem.h"
#include "cuda/attention/plan.h"
#include "cuda/attention/shapes.h"
#include "warp_emulator.h"

namespace assay::cuda {
namespace {

using work::AttentionPass;
using work::Type;

constexpr std::int64_t kMuchShared = 227 * 1024;

TEST(CudaSoftCap, ItsTanhIsRightToAMillionthOfItsValue) {
    EXPECT_EQ(cap_tanh(0.0F), 0.0F);
    double worst = 0;
    for (double size = 1e-7; size < 20; size *= 1.0003) {
        for (const double sign : {1.0, -1.0}) {
            const auto x = static_cast<float>(sign * size);
            const double right = std::tanh(static_cast<double>(x));
            worst = std::max(worst, std::abs(static_cast<double>(cap_tanh(x)) / right - 1));
        }
    }
    EXPECT_LT(worst, 1e-6);
    for (const float x : {1e4F, 1e30F, std::numeric_limits<float>::infinity()}) {
        EXPECT_EQ(cap_tanh(x), 1.0F);
        EXPECT_EQ(cap_tanh(-x), -1.0F);
    }
}

std::string forward_mistake_under(const char* modifier) {
    auto problem = attention(
        {.batch = 1, .heads = 1, .kv_heads = 1, .queries = 40, .keys = 70, .dim = 64}, "full");
    problem.modifier = work::parse_score_modifier(modifier);
    work::validate(problem);
    AttentionExample example(problem);
    auto& arrays = example.arrays();
    const auto choice = choose_kernel(problem, AttentionPass::forward, kMuchShared);
    const auto facts = facts_of(choice);
    const auto plan = plan_attention(problem, facts.queries, facts.keys, false);
    auto p = arguments_of(problem, plan);
    p.entries = plan.entries.data();
    p.first = plan.first.data();
    p.tiles = plan.tiles.data();
    p.sights = plan.sights.data();
    set_pieces(choice, p);
    set_operands(p, {.q = arrays.q.data(),
                     .k = arrays.k.data(),
                     .v = arrays.v.data(),
                     .o = arrays.o.data(),
                     .lse = reinterpret_cast<float*>(arrays.lse.data())});
    emulate(blocks_of(choice, p), facts.threads, facts.shared_bytes, {}, [&](const Thread& at) {
        with_forward_shape<Type::bf16>(choice.heads,
                                       [&](auto shape) { attend<decltype(shape)>(p, at); });
    });
    return example.forward_mistake();
}

TEST(CudaSoftCap, FarAboveTheScoresLeavesThem) {
    for (const auto* modifier : {"softcap:1e6", "softcap:1e20"}) {
        EXPECT_EQ(forward_mistake_under(modifier), "") << modifier;
    }
}

}  // namespace
}  // namespace assay::cuda
