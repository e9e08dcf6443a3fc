#include "probes/attention_dense.h"

#include <gmock/gmock.h>

#include "probes/attention.h"
#include "probes/attention_cases.h"
#include "probes/fake_bench.h"

namespace assay::probes {
namespace {

using testing::HasSubstr;

const AttentionProbe kProbe;

record::Result run(FakeBench& bench, const std::string& mask, work::AttentionPass pass) {
    // A tiled kernel that leaves out what isn't seen.
    bench.fake.script.attention_slowdown = [](const work::Attention& p, work::AttentionPass) {
        return work::density(p);
    };
    auto what = to_case(small_attention(mask, pass));
    what.set("against_dense", "yes", "yes");
    auto result = bench.run(kProbe, what);
    result.metrics = kProbe.metrics(result);
    return result;
}

TEST(AttentionDense, ASparseMaskIsComparedWithAFullOne) {
    for (const auto pass : {work::AttentionPass::forward, work::AttentionPass::backward}) {
        FakeBench bench;
        const auto result = run(bench, "document:even:4", pass);
        ASSERT_NE(result.metric("speed-up over dense"), nullptr);
        EXPECT_NEAR(result.metric("speed-up over dense")->value, 4, 1e-6);
        EXPECT_TRUE(find_check(result, "answer dense")->passed);
    }
}

TEST(AttentionDense, AFullMaskHasNothingToCompare) {
    FakeBench bench;
    const auto result = run(bench, "full", work::AttentionPass::forward);
    EXPECT_EQ(result.metric("speed-up over dense"), nullptr);
    EXPECT_EQ(find_check(result, "answer dense"), nullptr);
    EXPECT_EQ(result.conditions.settings.at("dense"), "the mask leaves out nothing");
}

TEST(AttentionDense, WithoutRoomForBothItSaysSo) {
    FakeBench bench;
    const auto attention = small_attention("causal");
    bench.fake.script.memory_bytes = 5000;  // one set takes 3 KiB
    const auto result = run(bench, "causal", attention.pass);
    EXPECT_THAT(result.conditions.settings.at("dense"), HasSubstr("one set of tensors needs"));
    EXPECT_EQ(result.metric("speed-up over dense"), nullptr);
    EXPECT_NE(result.metric("throughput"), nullptr);
}

}  // namespace
}  // namespace assay::probes
