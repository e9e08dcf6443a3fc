#include "cpu/attention.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cpu/attention_backward.h"
#include "cpu/attention_kernels.h"
#include "cpu/attention_plan.h"
#include "cpu/cpu_stream.h"
#include "cpu/facts.h"
#include "device_under_test.h"
#include "support/attention_answer.h"
#include "support/attention_arrays.h"
#include "support/attention_cases.h"
#include "support/attention_pairs.h"
#include "work/number_format.h"

namespace assay::cpu {
namespace {

using testing::HasSubstr;
using work::Attention;
using work::AttentionArrays;
using work::AttentionLayout;
using work::AttentionPass;
using work::AttentionTensor;
using work::Type;

// Runs all that it makes with one instruction set's kernels.
class Kernels {
  public:
    explicit Kernels(const AttentionKernels& kernels) {
        setenv("ASSAY_CPU_ISA", std::string(kernels.name).c_str(), 1);
    }
    ~Kernels() { unsetenv("ASSAY_CPU_ISA"); }
    Kernels(const Kernels&) = delete;
    Kernels& operator=(const Kernels&) = delete;
};

void run(AttentionArrays& arrays, AttentionPass pass) {
    auto& device = device_under_test();
    const auto stream = device.create_stream();
    const auto prepared = device.need<ops::Attention>().prepare(arrays.problem(), pass);
    prepared->enqueue(*stream, arrays.operands());
    stream->synchronize();
}

void run(AttentionArrays& arrays) {
    arrays.clear();
    run(arrays, AttentionPass::forward);
    run(arrays, AttentionPass::backward);
}

struct Sizes {
    std::int64_t queries, keys, dim, value_dim;
    std::int64_t heads = 1, kv_heads = 1, batch = 1;
};

Attention problem(const Sizes& s, std::string_view mask, std::string_view modifier = "none",
                  AttentionLayout layout = AttentionLayout::bhsd, Type type = Type::fp32) {
    Attention p{.batch = s.batch,
                .heads = s.heads,
                .kv_heads = s.kv_heads,
                .queries = s.queries,
                .keys = s.keys,
                .dim = s.dim,
                .value_dim = s.value_dim,
                .type = type,
                .mask = work::parse_mask(mask, s.queries, s.keys),
                .modifier = work::parse_score_modifier(modifier)};
    work::lay_out(p, layout);
    return p;
}

// Every row of every result, with the kernels of every instruction set, against the oracle.
void check(const Attention& p) {
    SCOPED_TRACE(work::name(p.mask) + ", " + work::name(p.modifier) + ", " +
                 std::to_string(p.queries) + " x " + std::to_string(p.keys));
    AttentionArrays arrays(p);
    const auto want = work::expected(p, arrays);
    for (const auto* kernels : runnable_attention_kernels()) {
        SCOPED_TRACE(kernels->name);
        const Kernels chosen(*kernels);
        run(arrays);
        const auto expect = [&](const char* what, const std::vector<std::byte>& array,
                                AttentionTensor tensor, const std::vector<double>& values) {
            EXPECT_LT(work::relative_error(arrays.values(array, tensor), values),
                      work::tolerance(p.type))
                << what;
            EXPECT_TRUE(arrays.gaps_are_unwritten(array, tensor)) << what;
        };
        expect("o", arrays.o, AttentionTensor::o, want.o);
        expect("lse", arrays.lse, AttentionTensor::lse, want.lse);
        expect("d_q", arrays.d_q, AttentionTensor::q, want.d_q);
        expect("d_k", arrays.d_k, AttentionTensor::k, want.d_k);
        expect("d_v", arrays.d_v, AttentionTensor::v, want.d_v);
    }
}

constexpr auto kBhsd = AttentionLayout::bhsd;
constexpr auto kBshd = AttentionLayout::bshd;
constexpr auto kPacked = AttentionLayout::packed;

TEST(CpuAttention, MatchesTheOracleForEveryMaskModifierRatioAndLayout) {
    check(problem({1, 1, 1, 1}, "full"));
    check(problem({67, 131, 64, 64}, "full"));
    check(problem({130, 130, 16, 16, 2, 1}, "causal", "none", kBshd));
    check(problem({70, 133, 8, 24, 1, 1}, "causal:bottom-right", "softcap:3"));
    check(problem({97, 41, 17, 5, 3, 1}, "causal:bottom-right", "alibi", kBshd));
    check(problem({97, 131, 7, 16, 1, 1, 2}, "causal", "bias"));
    check(problem({137, 137, 32, 16, 2, 2}, "causal+window:9", "softcap:2+alibi", kPacked));
    check(problem({66, 66, 33, 33, 2, 1}, "window:12", "bias+alibi", kPacked));
    check(problem({139, 139, 16, 8, 2, 1}, "causal+prefix:70", "bias"));
    check(problem({71, 140, 16, 8}, "causal+window:5+prefix:20", "softcap:4+alibi+bias"));
    check(problem({141, 141, 12, 12, 2, 2}, "causal+document:even:3", "softcap:5", kPacked));
    check(problem({129, 129, 12, 20}, "document:skewed:4+window:30", "alibi", kBshd));
    check(problem({67, 140, 8, 8, 2, 1}, "blocks:32:0,2/1,3-4/4", "softcap:3+bias"));
    check(problem({70, 70, 8, 8},
                  "causal+blocks:5:0-13/1/0,1/3/2,4/5/0-6/7/0-3,8/9/1,10/11/9,12/13"));
}

TEST(CpuAttention, MatchesTheOracleForEveryPairOfTraits) {
    std::vector<work::AttentionTraits> traits;
    for (const auto& one : work::pair_cases()) {
        const auto p = one.problem();
        check(p);
        traits.push_back(
            work::traits_of(p, one.layout, {AttentionPass::forward, AttentionPass::backward}));
    }
    EXPECT_THAT(work::missing_pairs(traits), testing::IsEmpty());
    traits.pop_back();
    EXPECT_THAT(work::missing_pairs(traits), testing::Not(testing::IsEmpty()));
}

TEST(CpuAttention, PutsHeadsThatShareKeysIntoOneTile) {
    check(problem({1, 150, 16, 16, 8, 1, 2}, "full", "alibi"));
    check(problem({1, 40, 24, 8, 6, 2}, "causal:bottom-right", "softcap:2+bias", kBshd));
    check(problem({7, 33, 16, 16, 12, 1}, "causal:bottom-right+window:6", "alibi+bias"));
    check(problem({31, 31, 5, 3, 7, 1}, "causal", "none", kPacked));
}

TEST(CpuAttention, TakesDimsOfAnySize) {
    check(problem({3, 5, 1, 1, 2, 1}, "causal"));
    check(problem({9, 20, 576, 512, 2, 1}, "full"));
    check(problem({5, 7, 129, 257}, "causal:bottom-right"));
}

TEST(CpuAttention, TakesNarrowTypes) {
    for (const Type type : {Type::bf16, Type::fp16}) {
        SCOPED_TRACE(work::name(type));
        check(problem({67, 131, 19, 24, 2, 1}, "causal:bottom-right", "none", kBshd, type));
        check(problem({40, 40, 64, 33}, "window:9", "softcap:3+alibi+bias", kPacked, type));
    }
}

TEST(CpuAttention, TakesStridesOfAnyOrder) {
    auto p = problem({9, 11, 5, 6, 4, 2, 2}, "causal");
    // Rows outside of the batch, heads outermost, and gaps everywhere.
    const auto set = [&](AttentionTensor tensor, std::int64_t rows, std::int64_t width) {
        const auto batch = width + 3;
        const auto row = 2 * batch + 1;
        p.of(tensor) = {.batch = batch, .head = rows * row + 7, .row = row};
    };
    set(AttentionTensor::q, 9, 5);
    set(AttentionTensor::k, 11, 5);
    set(AttentionTensor::v, 11, 6);
    set(AttentionTensor::o, 9, 6);
    set(AttentionTensor::lse, 9, 1);
    check(p);
}

TEST(CpuAttention, TakesAScale) {
    auto p = problem({20, 30, 16, 16}, "causal", "softcap:4");
    p.scale = -0.7;
    check(p);
    p.scale = 0.0;
    check(p);
}

TEST(CpuAttention, TakesRaggedLengthsZeroAmongThem) {
    for (const auto layout : {kBshd, kPacked}) {
        for (const char* mask : {"causal", "causal:bottom-right+window:7"}) {
            auto p = problem({67, 67, 8, 12, 4, 2, 5}, mask, "alibi");
            p.query_lengths = {5, 0, 67, 1, 5};
            p.key_lengths =
                layout == kPacked ? p.query_lengths : std::vector<std::int64_t>{9, 3, 50, 0, 9};
            work::lay_out(p, layout);
            check(p);
        }
    }
    // Each entry in a place of its own.
    auto p = problem({10, 12, 8, 8, 1, 1, 3}, "full");
    p.query_lengths = {10, 2, 0};
    p.key_lengths = {3, 12, 0};
    check(p);
}

// Longer than 2^16, where the window keeps it cheap: rows and keys at ends and edges of tiles.
TEST(CpuAttention, TakesLongSequences) {
    constexpr std::int64_t kLength = 70'000, kDim = 64;
    const auto p = problem({kLength, kLength, kDim, kDim}, "causal+window:64");
    AttentionArrays arrays(p);
    run(arrays);
    const work::AttentionOracle oracle(p, arrays, 0);
    work::AttentionAnswer want, got;
    const auto append = [](std::vector<double>& to, const std::vector<double>& row) {
        to.insert(to.end(), row.begin(), row.end());
    };
    for (const std::int64_t at : {0, 63, 64, 127, 128, 33'333, 65'535, 65'536, 65'600, 69'999}) {
        const auto output = oracle.output(0, at);
        append(want.o, output.o);
        want.lse.push_back(output.lse);
        append(want.d_q, oracle.d_q(0, at));
        const auto gradient = oracle.key_gradient(
            0, at, [&](std::int64_t head, std::int64_t query) { return oracle.row(head, query); });
        append(want.d_k, gradient.d_k);
        append(want.d_v, gradient.d_v);
        append(got.o, arrays.row(arrays.o, AttentionTensor::o, 0, 0, at));
        append(got.lse, arrays.row(arrays.lse, AttentionTensor::lse, 0, 0, at));
        append(got.d_q, arrays.row(arrays.d_q, AttentionTensor::q, 0, 0, at));
        append(got.d_k, arrays.row(arrays.d_k, AttentionTensor::k, 0, 0, at));
        append(got.d_v, arrays.row(arrays.d_v, AttentionTensor::v, 0, 0, at));
    }
    EXPECT_LT(work::relative_error(got.o, want.o), work::tolerance(p.type));
    EXPECT_LT(work::relative_error(got.lse, want.lse), work::tolerance(p.type));
    EXPECT_LT(work::relative_error(got.d_q, want.d_q), work::tolerance(p.type));
    EXPECT_LT(work::relative_error(got.d_k, want.d_k), work::tolerance(p.type));
    EXPECT_LT(work::relative_error(got.d_v, want.d_v), work::tolerance(p.type));
}

void store(std::vector<std::byte>& array, std::int64_t index, float value) {
    std::memcpy(array.data() + static_cast<std::size_t>(index) * sizeof(value), &value,
                sizeof(value));
}

// Overwrites a row of a head with `value`.
void spoil(AttentionArrays& arrays, std::vector<std::byte>& array, AttentionTensor tensor,
           std::int64_t row, float value) {
    const auto& p = arrays.problem();
    const auto at = work::position(p, tensor, 0, 0, row);
    for (std::int64_t i = 0; i < work::width_of(p, tensor); ++i) store(array, at + i, value);
}

std::vector<float> rows_of(const AttentionArrays& arrays, const std::vector<std::byte>& array,
                           AttentionTensor tensor, std::int64_t first, std::int64_t end) {
    const auto width = static_cast<std::size_t>(work::width_of(arrays.problem(), tensor));
    std::vector<float> values(width * static_cast<std::size_t>(end - first));
    std::memcpy(values.data(),
                array.data() + static_cast<std::size_t>(first) * width * sizeof(float),
                values.size() * sizeof(float));
    return values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Whatever a hidden key or query holds, no bit of a result that doesn't see it changes: infinity
// times the probability 0 would be NaN.
TEST(CpuAttention, LetsNothingOfHiddenKeysAndQueriesThrough) {
    using T = AttentionTensor;
    constexpr std::int64_t kLength = 150;
    struct Spoilt {
        const char* modifier;
        std::int64_t at;
        float value;
    };
    for (const auto* kernels : runnable_attention_kernels()) {
        const Kernels chosen(*kernels);
        for (const auto& [modifier, at, value] : {Spoilt{"none", 37, 7.0F},
                                                  {"none", 129, std::nanf("")},
                                                  {"softcap:3+alibi", 37, INFINITY}}) {
            SCOPED_TRACE(std::string(kernels->name) + ", " + std::to_string(value));
            const auto p = problem({kLength, kLength, 7, 18}, "causal", modifier);
            AttentionArrays arrays(p);
            run(arrays);
            const AttentionArrays before = arrays;
            const auto same = [&](const std::vector<std::byte>& now,
                                  const std::vector<std::byte>& then, AttentionTensor tensor,
                                  std::int64_t first, std::int64_t end) {
                return same_bits(rows_of(arrays, now, tensor, first, end),
                                 rows_of(arrays, then, tensor, first, end));
            };
            // Queries before `at` don't see these keys.
            spoil(arrays, arrays.k, T::k, at, value);
            spoil(arrays, arrays.v, T::v, at, value);
            spoil(arrays, arrays.v, T::v, kLength - 1, value);
            run(arrays);
            EXPECT_TRUE(same(arrays.o, before.o, T::o, 0, at));
            EXPECT_FALSE(same(arrays.o, before.o, T::o, at, at + 1));
            EXPECT_TRUE(same(arrays.lse, before.lse, T::lse, 0, at));
            EXPECT_TRUE(same(arrays.d_q, before.d_q, T::q, 0, at));
            // This query doesn't see keys after `at`.
            arrays = before;
            spoil(arrays, arrays.q, T::q, at, value);
            spoil(arrays, arrays.d_o, T::o, at, value);
            run(arrays);
            EXPECT_TRUE(same(arrays.d_k, before.d_k, T::k, at + 1, kLength));
            EXPECT_FALSE(same(arrays.d_k, before.d_k, T::k, at, at + 1));
            EXPECT_TRUE(same(arrays.d_v, before.d_v, T::v, at + 1, kLength));
            EXPECT_TRUE(same(arrays.o, before.o, T::o, 0, at));
            EXPECT_TRUE(same(arrays.o, before.o, T::o, at + 1, kLength));
        }
    }
}

TEST(CpuAttention, PassesOnWhatSeenKeysHold) {
    const auto p = problem({3, 5, 4, 4}, "full");
    for (const auto* kernels : runnable_attention_kernels()) {
        const Kernels chosen(*kernels);
        AttentionArrays arrays(p);
        spoil(arrays, arrays.k, AttentionTensor::k, 2, std::nanf(""));
        run(arrays, AttentionPass::forward);
        for (const double value : arrays.values(arrays.o, AttentionTensor::o)) {
            EXPECT_TRUE(std::isnan(value)) << kernels->name;
        }
    }
}

TEST(CpuAttention, KeepsPrecisionOverLargeScores) {
    auto p = problem({4, 200, 8, 8}, "full");
    p.scale = 8.0;
    check(p);
    // Scores that lie outside of fp32's exponents from each other.
    check(problem({3, 250, 8, 8, 1, 1}, "causal:bottom-right", "alibi"));
}

TEST(CpuAttention, GivesTheSameBitsEachTimeAndOnAnyNumberOfThreads) {
    const auto p = problem({200, 200, 16, 16, 3, 1}, "causal", "softcap:3");
    AttentionArrays arrays(p);
    run(arrays);
    const AttentionArrays first = arrays;
    const Topology topology;
    auto one_core = usable_cores(topology);
    one_core.resize(1);
    ThreadTeam alone(one_core);
    CpuAttention attention(topology, alone);
    for (const bool by_one : {false, true}) {
        arrays.clear();
        for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
            if (by_one) {
                CpuStream stream(alone);
                attention.prepare(p, pass, "")->enqueue(stream, arrays.operands());
            } else {
                run(arrays, pass);
            }
        }
        EXPECT_EQ(arrays.o, first.o) << by_one;
        EXPECT_EQ(arrays.lse, first.lse) << by_one;
        EXPECT_EQ(arrays.d_q, first.d_q) << by_one;
        EXPECT_EQ(arrays.d_k, first.d_k) << by_one;
        EXPECT_EQ(arrays.d_v, first.d_v) << by_one;
    }
}

// Gradients by the jobs of `threads` threads, one after the other.
void run_jobs(AttentionArrays& arrays, int threads, bool one_pass) {
    const AttentionPlan plan(arrays.problem());
    const auto how = backward_jobs(plan, threads);
    EXPECT_EQ(how.one_pass, one_pass);
    const auto operands = arrays.operands();
    const AttentionCall call{plan, attention_kernels(), operands};
    Carver counting(nullptr);
    const AttentionBackward counted(call, counting, how);
    const std::unique_ptr<void, decltype(&std::free)> memory(
        std::aligned_alloc(64, counting.taken()), &std::free);
    Carver carver(memory.get());
    AttentionBackward part(call, carver, how);
    for (const auto& job : how.jobs) part.run(job);
}

// A head's gradients at once where heads are enough for the threads, else those of keys and of
// queries apart.
TEST(CpuAttention, GivesTheSameGradientsInOnePassAndInTwo) {
    for (const char* mask : {"causal", "causal+window:70"}) {
        const auto p = problem({300, 300, 8, 24, 4, 2}, mask, "alibi");
        AttentionArrays one(p);
        run(one, AttentionPass::forward);
        AttentionArrays two = one;
        run_jobs(one, 2, true);
        run_jobs(two, 64, false);
        EXPECT_EQ(one.d_q, two.d_q) << mask;
        EXPECT_EQ(one.d_k, two.d_k) << mask;
        EXPECT_EQ(one.d_v, two.d_v) << mask;
        EXPECT_TRUE(two.gaps_are_unwritten(two.d_q, AttentionTensor::q));
    }
}

TEST(CpuAttention, RunsInAGraph) {
    auto& device = device_under_test();
    AttentionArrays arrays(problem({5, 5, 4, 4}, "causal"));
    run(arrays, AttentionPass::forward);
    const auto o = arrays.o;
    arrays.clear();
    const auto stream = device.create_stream();
    const auto prepared =
        device.need<ops::Attention>().prepare(arrays.problem(), AttentionPass::forward, "tiled");
    const auto graph = stream->capture([&] { prepared->enqueue(*stream, arrays.operands()); });
    EXPECT_NE(arrays.o, o);
    graph->launch(*stream);
    EXPECT_EQ(arrays.o, o);
}

TEST(CpuAttention, SaysHowItComputes) {
    auto& attention = device_under_test().need<ops::Attention>();
    EXPECT_EQ(attention.providers(), std::vector<std::string>{"tiled"});
    const auto how = [&](Type type, AttentionPass pass) {
        return attention.prepare(problem({64, 64, 8, 8}, "full", "none", kBhsd, type), pass)
            ->implementation();
    };
    const auto& best = *runnable_attention_kernels().front();
    const auto fp32 = how(Type::fp32, AttentionPass::forward);
    EXPECT_EQ(fp32.library, "assay");
    EXPECT_EQ(fp32.algorithm, "tiled " + std::string(best.name) + " 64x128");
    EXPECT_GT(fp32.workspace_bytes, 0);
    EXPECT_GE(fp32.threads, 1);
    EXPECT_EQ(fp32.path,
              &best == &kBaselineAttention ? record::Path::portable : record::Path::fast);
    const auto bf16 = how(Type::bf16, AttentionPass::backward);
    EXPECT_THAT(bf16.algorithm, HasSubstr("pass"));
    EXPECT_EQ(bf16.path, record::Path::emulated);
    EXPECT_EQ(bf16.note, "bf16 computed in fp32");
    if (&best != &kBaselineAttention) {
        const Kernels chosen(kBaselineAttention);
        const auto slower = how(Type::fp32, AttentionPass::forward);
        EXPECT_EQ(slower.path, record::Path::fallback);
        EXPECT_THAT(slower.note, HasSubstr("ASSAY_CPU_ISA=baseline"));
    }
}

TEST(CpuAttention, RefusesFp64OtherProvidersAndProblemsWithoutMeaning) {
    auto& attention = device_under_test().need<ops::Attention>();
    const auto refuse = [&](const Attention& p, const std::string& provider) {
        (void)attention.prepare(p, AttentionPass::forward, provider);
    };
    EXPECT_THROW(refuse(problem({4, 4, 4, 4}, "full", "none", kBhsd, Type::fp64), ""), Unsupported);
    EXPECT_THROW(refuse(problem({4, 4, 4, 4}, "full"), "cudnn"), Unsupported);
    EXPECT_THROW(refuse({.queries = 4, .keys = 4}, ""), UsageError);
}

// A long problem's workspace doesn't grow with its length.
TEST(CpuAttention, TakesABoundedWorkspace) {
    auto& attention = device_under_test().need<ops::Attention>();
    for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
        const auto bytes = [&](std::int64_t length) {
            const auto p = problem({length, length, 128, 128, 2, 1}, "causal+window:64");
            const auto how = attention.prepare(p, pass)->implementation();
            return how.workspace_bytes / static_cast<std::uint64_t>(how.threads);
        };
        EXPECT_LT(bytes(1 << 18), std::uint64_t{80} << 20) << work::name(pass);
    }
}

TEST(AttentionPlan, SharesOutEveryTileOnceTheLongestJobsFirst) {
    const auto p = problem({1000, 1000, 8, 8, 4, 2}, "causal");
    const AttentionPlan plan(p);
    const auto jobs = plan.jobs(AttentionJob::Kind::output, 8, 2);
    std::int64_t tiles = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        tiles += jobs[i].end - jobs[i].first;
        EXPECT_GT(jobs[i].cost, 0);
        EXPECT_LE(jobs[i].cost, jobs[i == 0 ? 0 : i - 1].cost);
    }
    EXPECT_EQ(tiles, 4 * 16);
    EXPECT_EQ(makespan({{.cost = 5}, {.cost = 4}, {.cost = 3}}, 2), 7);
}

}  // namespace
}  // namespace assay::cpu
