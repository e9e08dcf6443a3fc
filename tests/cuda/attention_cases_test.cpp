// What the device is tried with, on machines without one.
#include "attention_cases.h"

#include <set>
#include <utility>

#include <gmock/gmock.h>

#include "cuda/attention/kernels.h"
#include "cuda/attention/plan.h"
#include "support/attention_pairs.h"

namespace assay::cuda {
namespace {

using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;
using work::AttentionPass;
using work::Type;

constexpr auto kTypes = {Type::fp32, Type::bf16, Type::fp16};

// As if each problem were tried in every type, so that no pair of the rest is left to another
// type's problems.
std::vector<work::AttentionTraits> traits_in_every_type(std::vector<AttentionCase> cases) {
    std::vector<work::AttentionTraits> traits;
    for (auto& one : cases) {
        for (const auto type : kTypes) {
            one.problem.type = type;
            traits.push_back(work::traits_of(one.problem, one.layout,
                                             {AttentionPass::forward, AttentionPass::backward}));
        }
    }
    return traits;
}

// Types have kernels of their own: what needs two things at once may be wrong in one alone.
TEST(CudaAttentionCases, TryEveryPairOfTraitsOnTheDeviceInEachType) {
    for (const auto type : kTypes) {
        SCOPED_TRACE(work::name(type));
        const auto cases = device_cases(type);
        for (const auto& one : cases) EXPECT_EQ(one.problem.type, type) << one.name;
        EXPECT_THAT(work::missing_pairs(traits_in_every_type(cases)), IsEmpty());
        EXPECT_THAT(work::missing_pairs(traits_in_every_type(attention_cases(type))),
                    Not(IsEmpty()));
    }
}

// All but those that only devices of little shared memory choose.
TEST(CudaAttentionCases, HaveEachKernelOf16Bits) {
    constexpr std::int64_t kShared = 227 * 1024;
    for (const auto type : {Type::bf16, Type::fp16}) {
        std::set<Heads> forward, backward;
        for (const auto& test : kernel_cases(type)) {
            forward.insert(choose_kernel(test.problem, AttentionPass::forward, kShared).heads);
            backward.insert(choose_kernel(test.problem, AttentionPass::backward, kShared).heads);
        }
        EXPECT_THAT(forward, UnorderedElementsAre(Heads::upto64, Heads::upto128, Heads::upto192_128,
                                                  Heads::any));
        EXPECT_THAT(backward,
                    UnorderedElementsAre(Heads::upto64_large, Heads::upto128, Heads::any));
    }
}

// Each kernel that can is tried with tiles of keys shared among blocks, and without.
TEST(CudaAttentionCases, ShareTilesOfKeysOnAnyDevice) {
    constexpr std::int64_t kShared = 227 * 1024;
    for (const int processors : {4, 108, 132, 148}) {
        std::set<std::pair<Heads, bool>> ways;
        for (const auto& test : kernel_cases(Type::bf16)) {
            const auto choice = choose_kernel(test.problem, AttentionPass::backward, kShared);
            if (!can_share(choice)) continue;
            const auto facts = facts_of(choice);
            const auto plan = plan_attention(test.problem, facts.queries, facts.keys, true);
            const auto shares = share_steps(test.problem, plan, facts.keys, processors);
            ways.insert({choice.heads, shares.count > 1});
        }
        EXPECT_THAT(ways, UnorderedElementsAre(
                              Pair(Heads::upto64_large, false), Pair(Heads::upto64_large, true),
                              Pair(Heads::upto128, false), Pair(Heads::upto128, true)))
            << processors;
    }
}

}  // namespace
}  // namespace assay::cuda
