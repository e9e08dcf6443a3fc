// Attention's kernels on emulated warps, against the oracle: what can be proved of them without a
// GPU.
#include <cstring>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "attention_arrays.h"
#include "attention_cases.h"
#include "attention_problem.h"
#include "cuda/attention/plan.h"
#include "cuda/attention/shapes.h"
#include "warp_emulator.h"
#include "work/fill.h"

namespace assay::cuda {
namespace {

using work::AttentionPass;
using work::AttentionTensor;
using work::Type;

constexpr std::int64_t kMuchShared = 227 * 1024, kLittleShared = 99 * 1024;

template <Type type>
void run_half(const KernelChoice& choice, const AttentionArguments& p, const Thread& at) {
    if (choice.pass == AttentionPass::forward) {
        with_forward_shape<type>(choice.heads, [&](auto shape) { attend<decltype(shape)>(p, at); });
    } else if (choice.heads == Heads::any) {
        attend_back_in_pieces<BackwardPiecesShape<type>>(p, at);
    } else {
        with_backward_shape<type>(choice.heads,
                                  [&](auto shape) { attend_back<decltype(shape)>(p, at); });
    }
}

void run(const KernelChoice& choice, const AttentionArguments& p, const Thread& at) {
    if (choice.type == Type::bf16) return run_half<Type::bf16>(choice, p, at);
    if (choice.type == Type::fp16) return run_half<Type::fp16>(choice, p, at);
    if (choice.pass == AttentionPass::forward) return attend_simt(p, at);
    attend_back_simt(p, at);
}

// Calls `use` with a tag of the type.
template <class Use>
void with_type(Type type, Use use) {
    if (type == Type::bf16) return use(std::integral_constant<Type, Type::bf16>{});
    if (type == Type::fp16) return use(std::integral_constant<Type, Type::fp16>{});
    use(std::integral_constant<Type, Type::fp32>{});
}

// The kernels read the plan where it was made.
void point_to(AttentionArguments& arguments, const AttentionPlan& plan) {
    arguments.entries = plan.entries.data();
    arguments.first = plan.first.data();
    arguments.tiles = plan.tiles.data();
    arguments.sights = plan.sights.data();
    arguments.blocks = plan.blocks.empty() ? nullptr : plan.blocks.data();
}

// `processors`: of the device, where tiles of keys are shared so that all have work.
void attend_emulated(AttentionExample& example, AttentionPass pass, std::int64_t shared,
                     const Emulation& how, int processors = 0) {
    const auto& problem = example.problem();
    auto& arrays = example.arrays();
    const auto choice = choose_kernel(problem, pass, shared);
    const auto facts = facts_of(choice);
    ASSERT_LE(facts.shared_bytes, shared);
    const auto plan =
        plan_attention(problem, facts.queries, facts.keys, pass == AttentionPass::backward);
    auto p = arguments_of(problem, plan);
    point_to(p, plan);
    set_pieces(choice, p);
    const auto address = [&](std::vector<unsigned char>& array) {
        return array.empty() ? nullptr : array.data() + example.offset();
    };
    set_operands(
        p, {address(arrays.q), address(arrays.k), address(arrays.v), address(arrays.bias),
            address(arrays.o),
            // Shifted as many elements, of its own type.
            reinterpret_cast<float*>(arrays.lse.data()) +
                example.offset() / work::size_of(problem.type),
            address(arrays.d_o), address(arrays.d_q), address(arrays.d_k), address(arrays.d_v)});
    // Sums begin at 0; of the others no number may be read before a kernel wrote it.
    std::vector<float> lse(static_cast<std::size_t>(p.rows * p.heads),
                           std::numeric_limits<float>::quiet_NaN()),
        delta(lse), sums(lse.size() * static_cast<std::size_t>(p.sum_row));
    p.lse_base2 = lse.data();
    p.delta = delta.data();
    p.sum_q = sums.data();
    std::vector<float> key_sums, value_sums;
    if (processors > 0) {
        ASSERT_TRUE(can_share(choice));
        const auto shares = share_steps(problem, plan, facts.keys, processors);
        ASSERT_GT(shares.count, 1);
        p.shares = shares.count;
        p.share_steps = shares.steps;
        key_sums.resize(static_cast<std::size_t>(p.key_rows * p.kv_heads * p.sum_row));
        value_sums.resize(static_cast<std::size_t>(p.key_rows * p.kv_heads * p.sum_value_row));
        p.sum_k = key_sums.data();
        p.sum_v = value_sums.data();
    }
    const auto rows = by_rows(p, problem.queries);
    const bool backward = pass == AttentionPass::backward;
    if (backward) {
        with_type(problem.type, [&](auto type) {
            emulate(row_blocks(rows), kRowThreads, 0, how,
                    [&](const Thread& at) { prepare_row<type()>(rows, at); });
        });
    }
    emulate(blocks_of(choice, p), facts.threads, facts.shared_bytes, how,
            [&](const Thread& at) { run(choice, p, at); });
    if (backward) {
        with_type(problem.type, [&](auto type) {
            emulate(row_blocks(rows), kRowThreads, 0, how,
                    [&](const Thread& at) { finish_row<type()>(rows, at); });
            if (p.shares == 1) return;
            const auto key_rows = by_rows(p, problem.keys);
            emulate(key_row_blocks(key_rows), kRowThreads, 0, how,
                    [&](const Thread& at) { finish_key_row<type()>(key_rows, at); });
        });
    }
}

class CudaAttentionKernels : public testing::TestWithParam<Type> {};

std::string kind(const testing::TestParamInfo<Type>& info) {
    return std::string(work::name(info.param));
}
INSTANTIATE_TEST_SUITE_P(Types, CudaAttentionKernels,
                         testing::Values(Type::bf16, Type::fp16, Type::fp32), kind);

// The ways that warps and copies may take, each for every few cases.
Emulation way(int number) {
    return {number % 2 == 0, number / 2 % 2 == 0};
}

// All cases of bf16, some of the other types: threads that are emulated take their time.
std::vector<AttentionCase> some_cases(Type type) {
    auto cases = attention_cases(type);
    if (type == Type::bf16) return cases;
    std::vector<AttentionCase> some;
    for (std::size_t i = type == Type::fp16 ? 1 : 2; i < cases.size(); i += 4) {
        some.push_back(cases[i]);
    }
    return some;
}

TEST_P(CudaAttentionKernels, AgreeWithTheOracleForward) {
    int number = 0;
    for (const auto& test : some_cases(GetParam())) {
        SCOPED_TRACE(test.name);
        AttentionExample example(test.problem, test.shift);
        attend_emulated(example, AttentionPass::forward, kMuchShared, way(number++));
        EXPECT_EQ(example.forward_mistake(), "");
    }
}

TEST_P(CudaAttentionKernels, AgreeWithTheOracleBackward) {
    int number = 0;
    for (const auto& test : some_cases(GetParam())) {
        SCOPED_TRACE(test.name);
        AttentionExample example(test.problem, test.shift);
        example.take_forward();
        attend_emulated(example, AttentionPass::backward, kMuchShared, way(number++));
        EXPECT_EQ(example.backward_mistake(), "");
    }
}

// One problem in all four ways.
TEST(CudaAttentionKernelsOf16Bits, DontDependOnTheOrderOfWarpsAndCopies) {
    const auto test = attention_cases(Type::bf16)[2];
    for (int number = 0; number < 4; ++number) {
        AttentionExample example(test.problem);
        attend_emulated(example, AttentionPass::forward, kMuchShared, way(number));
        EXPECT_EQ(example.forward_mistake(), "") << number;
        attend_emulated(example, AttentionPass::backward, kMuchShared, way(number));
        EXPECT_EQ(example.backward_mistake(), "") << number;
    }
}

// Devices whose blocks have less shared memory than d_k and d_v of 128 columns take.
TEST(CudaAttentionKernelsOf16Bits, WorkInLittleSharedMemory) {
    const auto test = attention_cases(Type::bf16)[3];
    auto problem = test.problem;
    EXPECT_EQ(choose_kernel(problem, AttentionPass::backward, kMuchShared).heads, Heads::upto128);
    EXPECT_EQ(choose_kernel(problem, AttentionPass::backward, kLittleShared).heads, Heads::any);
    auto narrow = attention({1, 2, 1, 90, 150, 64, 64});
    EXPECT_EQ(choose_kernel(narrow, AttentionPass::backward, kMuchShared).heads,
              Heads::upto64_large);
    EXPECT_EQ(choose_kernel(narrow, AttentionPass::backward, kLittleShared).heads, Heads::upto64);
    narrow.modifier = work::parse_score_modifier("softcap:2+alibi");
    for (const auto& small : {problem, narrow}) {
        AttentionExample example(small);
        attend_emulated(example, AttentionPass::forward, kLittleShared, way(0));
        EXPECT_EQ(example.forward_mistake(), "");
        attend_emulated(example, AttentionPass::backward, kLittleShared, way(1));
        EXPECT_EQ(example.backward_mistake(), "");
    }
    for (const auto type : {Type::bf16, Type::fp16, Type::fp32}) {
        for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
            for (const std::int64_t dim : {8, 64, 72, 128, 192, 256, 576}) {
                problem.type = type;
                problem.dim = problem.value_dim = dim;
                const auto facts = facts_of(choose_kernel(problem, pass, kLittleShared));
                EXPECT_LE(facts.shared_bytes, kLittleShared);
            }
        }
    }
}

// As a device of many processors runs what its race detector is given.
TEST(CudaAttentionKernelsOf16Bits, RunTheCasesOfEachKernel) {
    for (const auto type : {Type::bf16, Type::fp16}) {
        for (const auto& test : kernel_cases(type)) {
            SCOPED_TRACE(test.name);
            AttentionExample example(test.problem);
            attend_emulated(example, AttentionPass::forward, kMuchShared, way(0));
            EXPECT_EQ(example.forward_mistake(), "");
            const bool shares = test.problem.kv_heads < test.problem.heads;
            attend_emulated(example, AttentionPass::backward, kMuchShared, way(1),
                            shares ? 132 : 0);
            EXPECT_EQ(example.backward_mistake(), "");
        }
    }
}

// Few tiles of keys: of heads that share keys, of a long row of queries, of ragged lengths, in odd
// strides, of masks whose tiles aren't all in a row.
TEST(CudaAttentionKernelsOf16Bits, ShareTilesOfKeysAmongBlocks) {
    const auto run = [](work::Attention problem, std::int64_t shift = 0) {
        AttentionExample example(std::move(problem), shift);
        example.take_forward();
        attend_emulated(example, AttentionPass::backward, kMuchShared, way(1), 16);
        EXPECT_EQ(example.backward_mistake(), "");
    };
    run(attention({1, 6, 1, 150, 150, 128, 128}));
    run(attention({1, 1, 1, 800, 60, 64, 64}, "full", work::AttentionLayout::bhsd, Type::fp16));
    run(attention({1, 8, 2, 150, 200, 40, 13}, "causal:bottom-right"), 1);
    auto ragged = attention({3, 6, 1, 150, 150, 64, 72});
    ragged.query_lengths = {130, 0, 150};
    ragged.key_lengths = {70, 5, 150};
    ragged.modifier = work::parse_score_modifier("softcap:2+alibi");
    work::lay_out(ragged, work::AttentionLayout::bshd);
    run(ragged);
    run(attention({1, 6, 1, 150, 200, 64, 64}, "blocks:32:0,6/0-1/1/0,2-3/1-4"));
    run(attention({1, 6, 1, 150, 150, 128, 128}, "causal+prefix:50"));
    run(attention({1, 8, 2, 150, 150, 128, 128}, "causal+document:even:2",
                  work::AttentionLayout::packed));
}

// What a query can't see leaves no trace, to the bit.
TEST(CudaAttentionKernelsOf16Bits, AreCausalToTheBit) {
    constexpr std::int64_t kLength = 150, kChanged = 77, kDim = 64;
    work::Attention problem{
        .queries = kLength, .keys = kLength, .dim = kDim, .value_dim = kDim, .type = Type::bf16};
    problem.mask.causal = true;
    work::lay_out(problem, work::AttentionLayout::bhsd);
    AttentionExample one(problem), other(problem);
    auto& arrays = other.arrays();
    for (auto* array : {&arrays.k, &arrays.v}) {
        for (std::size_t i = kChanged * kDim * 2; i < kLength * kDim * 2; i += 2) {
            work::store(Type::bf16, 100, array->data() + i);
        }
    }
    attend_emulated(one, AttentionPass::forward, kMuchShared, way(0));
    attend_emulated(other, AttentionPass::forward, kMuchShared, way(0));
    const auto& o = one.arrays().o;
    EXPECT_TRUE(std::equal(o.begin(), o.begin() + kChanged * kDim * 2, arrays.o.begin()));
    EXPECT_NE(o, arrays.o);
}

TEST(CudaAttentionPlan, SharesWhatEntriesOfEqualLengthsHaveInCommon) {
    auto problem = attention_cases(Type::bf16)[0].problem;
    problem.batch = 4;
    problem.query_lengths = {100, 64, 100, 0};
    problem.key_lengths = {100, 64, 100, 7};
    problem.mask.causal = true;
    work::lay_out(problem, work::AttentionLayout::bshd);
    const auto plan = plan_attention(problem, 64, 64, false);
    ASSERT_EQ(plan.entries.size(), 4U);
    EXPECT_EQ(plan.tile_rows, 2);
    EXPECT_EQ(plan.rows, 264);
    EXPECT_EQ(plan.entries[0].tiles, plan.entries[2].tiles);
    EXPECT_EQ(plan.entries[0].sights, plan.entries[2].sights);
    EXPECT_EQ(plan.entries[2].row, 164);
    EXPECT_EQ(plan.entries[2].q, 164 * problem.of(AttentionTensor::q).row);
    EXPECT_EQ(plan.sights.size(), 164U);
    // 100: the first tile on the diagonal; below it one full, and one at the edge.
    const auto first = static_cast<std::size_t>(plan.first[0]);
    EXPECT_EQ(plan.first[1] - plan.first[0], 1);
    EXPECT_EQ(plan.first[2] - plan.first[1], 2);
    EXPECT_EQ(plan.tiles[first], coded_tile(0, false));
    EXPECT_EQ(plan.tiles[first + 1], coded_tile(0, true));
    EXPECT_EQ(plan.tiles[first + 2], coded_tile(1, false));
}

TEST(CudaAttentionPlan, SharesTilesOfKeysWhereProcessorsWouldIdle) {
    const auto shares = [](const work::Attention& problem, int processors) {
        return share_steps(problem, plan_attention(problem, 64, 128, true), 128, processors);
    };
    // Tiles of 64, 56, .. 8 steps of 4 key/value heads: 32 blocks, or 128 of up to 10 steps.
    const auto few = attention({2, 8, 2, 1024, 1024, 128, 128});
    EXPECT_EQ(shares(few, 132), (Shares{7, 10}));
    EXPECT_EQ(shares(few, 144), (Shares{8, 8}));
    EXPECT_EQ(shares(few, 36), (Shares{2, 56}));
    // A tile more than there are is no use to four heads.
    EXPECT_EQ(shares(few, 33), Shares{});
    EXPECT_EQ(shares(few, 32), Shares{});
    // No share is so small that adding it up costs more than it saves.
    EXPECT_EQ(shares(few, 100000), (Shares{16, 4}));
    EXPECT_EQ(shares(attention({1, 1, 1, 256, 128, 64, 64}, "full"), 132), Shares{});
    EXPECT_EQ(shares(attention({2, 32, 32, 1024, 1024, 128, 128}), 132), Shares{});
    EXPECT_EQ(shares(attention({1, 1, 1, 4096, 128, 64, 64}, "full"), 8), (Shares{8, 8}));
}

struct Tiling {
    int queries, keys;
    bool by_keys;
    auto operator<=>(const Tiling&) const = default;
};

// Of all kernels.
std::set<Tiling> tilings() {
    std::set<Tiling> all;
    for (const auto type : {Type::bf16, Type::fp32}) {
        for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
            for (const auto heads : {Heads::upto64, Heads::upto64_large, Heads::upto128,
                                     Heads::upto192_128, Heads::any}) {
                const auto facts = facts_of({type, pass, heads});
                all.insert({facts.queries, facts.keys, pass == AttentionPass::backward});
            }
        }
    }
    return all;
}

// Every pair that exists is in the tiles that its row and its column list, and "full" is said of
// tiles alone that need no test.
TEST(CudaAttentionPlan, CoversWhatTheMaskShows) {
    const auto ways = tilings();
    ASSERT_GE(ways.size(), 6U);
    for (const auto& test : attention_cases(Type::bf16)) {
        SCOPED_TRACE(test.name);
        const auto& problem = test.problem;
        for (const auto& [queries, tile_keys, by_keys] : ways) {
            SCOPED_TRACE(fmt::format("{} x {}", queries, tile_keys));
            const auto plan = plan_attention(problem, queries, tile_keys, by_keys);
            auto p = arguments_of(problem, plan);
            point_to(p, plan);
            for (std::size_t e = 0; e < plan.entries.size(); ++e) {
                const auto& entry = plan.entries[e];
                const work::MaskRows rows(problem.mask, entry.queries, entry.keys);
                for (int i = 0; i < entry.queries; ++i) {
                    for (int j = 0; j < entry.keys + 5; ++j) {
                        const bool seen = j < entry.keys && rows.sees(i, j);
                        ASSERT_EQ(sees(p, sight_of(p, entry, i), i, j), seen) << i << ' ' << j;
                        const int query_tile = i / queries, key_tile = j / tile_keys;
                        const int row = by_keys ? key_tile : query_tile,
                                  column = by_keys ? query_tile : key_tile;
                        if (j >= entry.keys) continue;
                        bool listed = false, full = false;
                        for (auto t = plan.first[static_cast<std::size_t>(entry.tiles + row)];
                             t < plan.first[static_cast<std::size_t>(entry.tiles + row + 1)]; ++t) {
                            const auto code = plan.tiles[static_cast<std::size_t>(t)];
                            if (code / 2 == column) {
                                listed = true;
                                full = code % 2 == 1;
                            }
                        }
                        ASSERT_TRUE(listed || !seen);
                        ASSERT_TRUE(seen || !full);
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace assay::cuda
