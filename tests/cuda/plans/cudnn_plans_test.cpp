// cuDNN plans for a device that is written down, so that what its heuristics make of a graph is
// tested where there is no GPU. It asks for the driver all the same: a program of its own, since
// one that pretends would be in the way of other tests.
#include <filesystem>
#include <string>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absent_device.h"
#include "base/error.h"
#include "base/scratch.h"
#include "cuda/attention_problem.h"
#include "cuda/cudnn/attention_graph.h"
#include "cuda/cudnn/plans.h"

namespace assay::cuda {
namespace {

using testing::HasSubstr;
using work::AttentionLayout;
using work::AttentionPass;

CudnnGraph graph(const work::Attention& p, AttentionPass pass) {
    work::validate(p);
    return cudnn_attention_graph(p, cudnn_entries(p, pass), pass, ScratchSize::by_token);
}

class CudnnPlansTest : public testing::Test {
  protected:
    void SetUp() override {
        static void* const driver = load_driver(ASSAY_STAND_IN_DRIVER);
        ASSERT_NE(driver, nullptr) << dlerror();
        try {
            if (Cudnn::instance().number() < 91000) GTEST_SKIP() << "needs cuDNN 9.10 or newer";
        } catch (const Unsupported& missing) {
            GTEST_SKIP() << "needs cuDNN: " << missing.what();
        }
        static const auto device = absent_device();
        target_ = {nullptr, &device, 90};
    }

    // It gets a kernel of the device's own architecture. Each plan takes a second or two.
    void expect_own_code(const work::Attention& p, AttentionPass pass) {
        const CudnnPlan plan(graph(p, pass), target_);
        EXPECT_TRUE(plan.is_own_code()) << work::name(pass) << ": " << plan.kernel();
        EXPECT_THAT(plan.kernel(), HasSubstr("sdpa_sm90"));
        EXPECT_THAT(plan.engine(), HasSubstr("engine "));
    }

    CudnnTarget target_;
};

constexpr AttentionShape kHeads128{.batch = 2,
                                   .heads = 8,
                                   .kv_heads = 8,
                                   .queries = 512,
                                   .keys = 512,
                                   .dim = 128,
                                   .value_dim = 128};
constexpr AttentionShape kGrouped{.batch = 2,
                                  .heads = 8,
                                  .kv_heads = 2,
                                  .queries = 512,
                                  .keys = 512,
                                  .dim = 128,
                                  .value_dim = 128};

TEST_F(CudnnPlansTest, CausalPackedWithGroupedHeads) {
    const auto p = attention(kGrouped, "causal", AttentionLayout::packed);
    expect_own_code(p, AttentionPass::forward);
    expect_own_code(p, AttentionPass::backward);
}
TEST_F(CudnnPlansTest, AWindowOverAnOddLength) {
    auto shape = kGrouped;
    shape.queries = shape.keys = 509;
    expect_own_code(attention(shape, "causal+window:128", AttentionLayout::bhsd, work::Type::fp16),
                    AttentionPass::backward);
}
// As versions want it that take whole tiles of keys otherwise.
TEST_F(CudnnPlansTest, AnOddLengthWithItsLengths) {
    auto shape = kGrouped;
    shape.queries = shape.keys = 509;
    const auto p = attention(shape, "causal");
    const auto pass = AttentionPass::backward;
    const CudnnPlan plan(
        cudnn_attention_graph(p, with_lengths(cudnn_entries(p, pass)), pass, ScratchSize::by_token),
        target_);
    EXPECT_TRUE(plan.is_own_code()) << plan.kernel();
}
TEST_F(CudnnPlansTest, AWindowToBothSides) {
    expect_own_code(attention(kHeads128, "window:128"), AttentionPass::forward);
}
TEST_F(CudnnPlansTest, ADiagonalAtTheBottomRight) {
    auto shape = kGrouped;
    shape.queries = 200;
    expect_own_code(attention(shape, "causal:bottom-right+window:64"), AttentionPass::backward);
}
TEST_F(CudnnPlansTest, LatentHeads) {
    auto shape = kHeads128;
    shape.dim = 192;
    expect_own_code(attention(shape, "causal"), AttentionPass::backward);
}
TEST_F(CudnnPlansTest, Documents) {
    const auto p = attention(kGrouped, "causal+document:100/300/112");
    expect_own_code(p, AttentionPass::forward);
    expect_own_code(p, AttentionPass::backward);
}
TEST_F(CudnnPlansTest, RaggedEntriesOfOtherLengthsOfKeys) {
    auto p = ragged(kGrouped, {30, 77, 512}, "causal:bottom-right");
    p.key_lengths = {512, 77, 512};
    expect_own_code(p, AttentionPass::forward);
}

// What the graph's odd ways are for.
TEST_F(CudnnPlansTest, WithoutMemoryForItsSumsAGraphFallsToAnEarlierArchitecture) {
    auto g = graph(attention(kHeads128), AttentionPass::backward);
    for (auto& tensor : g.tensors) {
        if (tensor.id == id_d_q_sum) tensor.place = GraphPlace::inner;
    }
    const CudnnPlan plan(g, target_);
    EXPECT_FALSE(plan.is_own_code()) << plan.kernel();
}

TEST_F(CudnnPlansTest, AGraphOfNoKnownShapeIsRefusedWithTheReason) {
    auto g = graph(attention(kHeads128), AttentionPass::forward);
    // No softmax any more.
    for (auto& node : g.nodes) {
        if (node.step == GraphStep::maximum) node.step = GraphStep::sum;
    }
    try {
        const CudnnPlan plan(g, target_);
        FAIL() << plan.kernel();
    } catch (const Unsupported& refused) {
        EXPECT_THAT(refused.what(), HasSubstr("has no plan: "));
    }
}

// Another provider can take it then.
TEST_F(CudnnPlansTest, AGraphThatTheLibraryCantReadIsUnsupported) {
    auto g = graph(attention(kHeads128), AttentionPass::forward);
    g.tensors.front().dims[2] = 0;
    try {
        const CudnnPlan plan(g, target_);
        FAIL() << plan.kernel();
    } catch (const Unsupported& refused) {
        EXPECT_THAT(refused.what(), HasSubstr("has no plan: "));
        EXPECT_THAT(refused.what(), HasSubstr("operation 0 matmul"));
    }
}

TEST_F(CudnnPlansTest, AreReadFromDiskByTheNextProcess) {
    const Scratch scratch;
    const auto g = graph(attention(kHeads128), AttentionPass::forward);
    CudnnPlans first(CudnnPlanCache(scratch.path()));
    const auto built = first.find(g, target_, "a GPU");
    EXPECT_EQ(built.source, PlanSource::built);
    EXPECT_EQ(built.note, "");
    EXPECT_THAT(describe(built), HasSubstr("planned in "));
    const auto same = first.find(g, target_, "a GPU");
    EXPECT_EQ(same.source, PlanSource::memory);
    EXPECT_EQ(same.plan, built.plan);
    EXPECT_EQ(first.find(g, target_, "another GPU").source, PlanSource::built);

    CudnnPlans second(CudnnPlanCache(scratch.path()));
    const auto read = second.find(g, target_, "a GPU");
    EXPECT_EQ(read.source, PlanSource::disk);
    EXPECT_THAT(describe(read), HasSubstr("plan read in "));
    EXPECT_EQ(read.plan->kernel(), built.plan->kernel());
    EXPECT_EQ(read.plan->engine(), built.plan->engine());
    EXPECT_EQ(read.plan->workspace_bytes(), built.plan->workspace_bytes());
    EXPECT_TRUE(read.plan->is_own_code());
}

TEST_F(CudnnPlansTest, WhatTheLibraryRefusesIsPlannedAgainAndReplaced) {
    const Scratch scratch;
    const CudnnPlanCache cache(scratch.path());
    const auto g = graph(attention(kHeads128), AttentionPass::forward);
    ASSERT_EQ(CudnnPlans(cache).find(g, target_, "a GPU").source, PlanSource::built);
    const auto file = std::filesystem::directory_iterator(scratch.path())->path();

    // Intact as a file, but no plan.
    const CudnnPlanKey key{"a GPU 90",
                           "cuDNN " + Cudnn::instance().version() + " of CUDA " +
                               std::to_string(Cudnn::instance().get_cudart_version()),
                           g.text()};
    ASSERT_EQ(cache.file(key), file);
    ASSERT_EQ(cache.keep(key, {"engine 2", "{\"not\": \"a plan\"}"}), "");
    EXPECT_EQ(CudnnPlans(cache).find(g, target_, "a GPU").source, PlanSource::built);
    EXPECT_EQ(CudnnPlans(cache).find(g, target_, "a GPU").source, PlanSource::disk);
}

}  // namespace
}  // namespace assay::cuda
