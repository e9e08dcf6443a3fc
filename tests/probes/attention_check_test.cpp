#include "probes/attention_check.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "probes/attention_cases.h"
#include "probes/attention_setup.h"
#include "probes/fake_bench.h"

namespace assay::probes {
namespace {

using testing::Contains;
using testing::HasSubstr;
using work::AttentionPass;

// The last check of one run of a case: its forward answer where that is wrong.
record::Check answer(FakeBench& bench, const AttentionCase& attention) {
    AttentionSetup setup(attention, bench.bench);
    record::Result result;
    if (!setup.make_outputs({"oracle"}, result)) return result.checks.back();
    const auto prepared =
        bench.device.need<ops::Attention>().prepare(attention.problem, attention.pass);
    return setup.answer(*prepared, "answer");
}

void relay(AttentionCase& attention, work::AttentionLayout layout) {
    attention.layout = layout;
    work::lay_out(attention.problem, layout);
}

TEST(AttentionCheck, PassesRightAnswersOfEveryKind) {
    FakeBench bench;
    for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
        std::vector<AttentionCase> cases;
        for (const auto* mask :
             {"full", "causal", "causal+window:3", "window:2", "causal+prefix:4",
              "causal+document:even:3", "causal:bottom-right", "blocks:4:0/1/2", "blocks:4:0//2"}) {
            cases.push_back(small_attention(mask, pass));
        }
        for (const auto* modifier : {"softcap:5", "alibi", "bias", "softcap:5+alibi+bias"}) {
            cases.push_back(small_attention("causal", pass));
            cases.back().problem.modifier = work::parse_score_modifier(modifier);
        }
        for (const auto type : {work::Type::fp64, work::Type::fp16, work::Type::bf16}) {
            cases.push_back(small_attention("causal", pass));
            cases.back().problem.type = type;
        }
        for (const auto drawn : work::all_distributions()) {
            cases.push_back(small_attention("causal", pass));
            cases.back().inputs = drawn;
        }
        for (const auto layout : {work::AttentionLayout::bhsd, work::AttentionLayout::packed}) {
            cases.push_back(small_attention("causal", pass));
            cases.back().problem.batch = 2;
            cases.back().problem.value_dim = 3;
            relay(cases.back(), layout);
        }
        cases.push_back(small_attention("causal", pass));
        set_lengths(cases.back().problem, {5, 0, 9});
        relay(cases.back(), work::AttentionLayout::bshd);
        cases.push_back(small_attention("causal:bottom-right", pass));
        cases.back().problem.keys = 17;
        relay(cases.back(), work::AttentionLayout::bshd);
        cases.push_back(small_attention("causal", pass));
        cases.back().problem.queries = cases.back().problem.keys = 1;
        relay(cases.back(), work::AttentionLayout::bshd);
        for (const auto& attention : cases) {
            const auto check = answer(bench, attention);
            EXPECT_TRUE(check.passed) << to_case(attention).text() << ": " << check.detail;
        }
    }
}

TEST(AttentionCheck, FindsAnErrorInEachTensor) {
    for (const auto type : {work::Type::fp32, work::Type::bf16}) {
        const double error = type == work::Type::fp32 ? 1e-4 : 3e-2;
        for (const auto* tensor : {"o", "lse", "d_q", "d_k", "d_v"}) {
            FakeBench bench;
            bench.fake.script.wrong_by = error;
            bench.fake.script.wrong_in = tensor;
            auto attention = small_attention("causal", AttentionPass::backward);
            attention.problem.type = type;
            const auto check = answer(bench, attention);
            EXPECT_FALSE(check.passed) << tensor;
            EXPECT_THAT(check.detail, HasSubstr(tensor));
        }
    }
}

// The allowance for terms that cancel must leave sums over groups and long rows as strict.
TEST(AttentionCheck, FindsAnErrorInKeysThatManyHeadsShare) {
    FakeBench bench;
    bench.fake.script.wrong_in = "d_k";
    auto attention = small_attention("causal", AttentionPass::backward);
    auto& p = attention.problem;
    p.heads = 8;
    p.kv_heads = 1;
    p.queries = p.keys = 128;
    p.dim = p.value_dim = 64;
    relay(attention, work::AttentionLayout::bshd);
    EXPECT_TRUE(answer(bench, attention).passed);
    bench.fake.script.wrong_by = 1e-4;
    const auto check = answer(bench, attention);
    EXPECT_FALSE(check.passed);
    EXPECT_THAT(check.detail, HasSubstr("d_k"));
}

// Where each query sees one key in effect, d_q is little but what the rounding of o leaves of
// delta.
TEST(AttentionCheck, AllowsForAnOutputThatIsRounded) {
    auto attention = small_attention("full", AttentionPass::backward);
    attention.inputs = work::Distribution::uniform;
    auto& p = attention.problem;
    p.heads = p.kv_heads = 1;
    p.queries = p.keys = 16;
    p.scale = 50;
    relay(attention, work::AttentionLayout::bshd);
    for (const auto type : {work::Type::fp32, work::Type::fp16, work::Type::bf16}) {
        p.type = type;
        FakeBench bench;
        const auto right = answer(bench, attention);
        EXPECT_TRUE(right.passed) << right.detail;
        for (const auto* tensor : {"d_q", "d_k", "d_v"}) {
            bench.fake.script.wrong_in = tensor;
            bench.fake.script.wrong_by = 0.25;
            const auto wrong = answer(bench, attention);
            EXPECT_FALSE(wrong.passed) << tensor << wrong.detail << right.detail;
            EXPECT_THAT(wrong.detail, HasSubstr(tensor));
        }
    }
}

TEST(AttentionCheck, AllowsForAnOutputThatIsRoundedNoMoreThanThatTakes) {
    for (const auto* mask : {"full", "causal"}) {
        auto attention = small_attention(mask, AttentionPass::backward);
        auto& p = attention.problem;
        p.type = work::Type::bf16;
        p.heads = p.kv_heads = 1;
        p.queries = p.keys = 128;
        p.dim = p.value_dim = 64;
        relay(attention, work::AttentionLayout::bshd);
        FakeBench bench;
        EXPECT_TRUE(answer(bench, attention).passed);
        bench.fake.script.wrong_in = "d_q";
        bench.fake.script.wrong_by = mask[0] == 'f' ? 1.5e-2 : 3e-2;
        EXPECT_FALSE(answer(bench, attention).passed) << mask;
    }
}

TEST(AttentionCheck, LargeScoresAreRoundedByMore) {
    for (const double scale : {0.5, 1e4}) {
        FakeBench bench;
        bench.fake.script.wrong_by = 1e-4;
        bench.fake.script.wrong_in = "o";
        auto attention = small_attention();
        attention.problem.scale = scale;
        EXPECT_EQ(answer(bench, attention).passed, scale > 1);
    }
}

TEST(AttentionCheck, SaysWhereKeysAreTooDear) {
    FakeBench bench;
    auto attention = small_attention("full", AttentionPass::backward);
    AttentionSetup setup(attention, bench.bench, nullptr, 1e-7);
    record::Result result;
    ASSERT_TRUE(setup.make_outputs({"oracle"}, result));
    const auto prepared =
        bench.device.need<ops::Attention>().prepare(attention.problem, attention.pass);
    const auto check = setup.answer(*prepared, "answer");
    EXPECT_TRUE(check.passed) << check.detail;
    EXPECT_THAT(check.detail, HasSubstr("no key was checked"));
}

TEST(AttentionCheck, FindsACallThatWritesNothing) {
    for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
        FakeBench bench;
        const auto attention = small_attention("causal", pass);
        AttentionSetup setup(attention, bench.bench);
        record::Result result;
        ASSERT_TRUE(setup.make_outputs({"oracle"}, result));
        const auto prepared =
            bench.device.need<ops::Attention>().prepare(attention.problem, attention.pass);
        EXPECT_TRUE(setup.answer(*prepared, "answer").passed);
        EXPECT_TRUE(setup.answer_as_it_is("as it is").passed);
        bench.fake.script.idle_from_call = bench.fake.calls();
        EXPECT_FALSE(setup.answer(*prepared, "answer").passed);
    }
}

TEST(AttentionCheck, FindsOneOfTheSampledRowsThatIsWrong) {
    FakeBench bench;
    const auto attention = small_attention("full");
    AttentionSetup setup(attention, bench.bench);
    const auto prepared =
        bench.device.need<ops::Attention>().prepare(attention.problem, attention.pass);
    ASSERT_TRUE(setup.answer(*prepared, "answer").passed);
    const auto set = setup.operands().set(0);
    const auto at = work::position(attention.problem, work::AttentionTensor::o, 0, 3, 11);
    static_cast<float*>(set.o)[at] += 1e-3F;
    EXPECT_FALSE(setup.answer_as_it_is("answer").passed);
}

TEST(AttentionCheck, FindsQueryHeadsThatReadAnotherGroupsKeys) {
    for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
        FakeBench bench;
        bench.fake.script.mispairs_heads = pass;
        auto attention = small_attention("causal", pass);
        attention.problem.heads = 16;  // the first and the last are paired right
        attention.problem.kv_heads = 4;
        relay(attention, work::AttentionLayout::bshd);
        const auto check = answer(bench, attention);
        EXPECT_FALSE(check.passed);
        EXPECT_THAT(check.detail, HasSubstr(pass == AttentionPass::forward ? "o of" : "d_q of"));
    }
}

TEST(AttentionCheck, FindsAWrongMiddleHeadOrEntry) {
    FakeBench bench;
    auto attention = small_attention("causal");
    attention.problem.batch = 3;
    attention.problem.heads = attention.problem.kv_heads = 7;
    relay(attention, work::AttentionLayout::bhsd);
    AttentionSetup setup(attention, bench.bench);
    const auto prepared =
        bench.device.need<ops::Attention>().prepare(attention.problem, attention.pass);
    for (const std::int64_t head : {0, 3}) {
        ASSERT_TRUE(setup.answer(*prepared, "answer").passed);
        auto* o = static_cast<float*>(setup.operands().set(0).o);
        const auto at = [&](std::int64_t row) {
            return work::position(attention.problem, work::AttentionTensor::o, 1, head, row);
        };
        // All heads from there on, of the middle entry only, or the middle head of it.
        const auto end = head == 0 ? at(0) + 7 * 12 * 4 : at(12);
        for (auto i = at(0); i < end; ++i) o[i] += 1e-3F;
        EXPECT_FALSE(setup.answer_as_it_is("answer").passed) << head;
    }
}

TEST(AttentionCheck, SamplesEndsAndEdgesAndCostsWhatItMay) {
    auto p = small_attention().problem;
    p.queries = p.keys = 4096;
    p.dim = p.value_dim = 128;
    p.batch = 3;
    p.mask = work::parse_mask("causal+window:300", 4096, 4096);
    work::lay_out(p, work::AttentionLayout::bshd);
    const auto rows = sampled_queries(p, 1e9);
    EXPECT_GT(rows.size(), 20U);
    const auto holds = [&](std::int64_t row) {
        return std::ranges::any_of(rows, [&](const SampledRow& at) { return at.row == row; });
    };
    for (const std::int64_t row : {0, 4095, 63, 64, 127, 128, 299, 300}) {
        EXPECT_TRUE(holds(row)) << row;
    }
    EXPECT_TRUE(std::ranges::is_sorted(rows)) << "so that a head's keys are made once";
    EXPECT_EQ(rows.back().entry, 2);
    EXPECT_EQ(rows.back().head, 3);
    // Each costs up to 300 x 256 elements; four are always taken.
    EXPECT_LE(sampled_queries(p, 10 * 300 * 256.0).size(), 30U);
    EXPECT_EQ(sampled_queries(p, 0).size(), 4U);
    EXPECT_GT(sampled_keys(p, 1e9).size(), 20U);
    // Two heads of a group; one query sees the last key.
    const double pair = 2 * 5 * 128;
    const auto keys = sampled_keys(p, 100 * pair);
    EXPECT_TRUE(std::ranges::any_of(keys, [](const auto& at) { return at.row == 4095; }));
    EXPECT_TRUE(std::ranges::all_of(keys, [](const auto& at) { return at.row > 4095 - 100; }));
    EXPECT_EQ(sampled_keys(p, pair / 4).size(), 1U) << "four budgets";
    EXPECT_TRUE(sampled_keys(p, pair / 5).empty());
    p = small_attention().problem;
    p.queries = p.keys = p.heads = p.kv_heads = 1;
    EXPECT_EQ(sampled_queries(p, 1e9), (std::vector<SampledRow>{{0, 0, 0}}));
}

}  // namespace
}  // namespace assay::probes
