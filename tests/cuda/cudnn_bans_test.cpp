#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention_problem.h"
#include "cuda/cudnn/bans.h"

namespace assay::cuda {
namespace {

using testing::HasSubstr;
using work::AttentionLayout;
using work::AttentionPass;

std::string ban(const work::Attention& p, std::size_t version, AttentionPass pass,
                int capability = 90) {
    const auto entries = cudnn_entries(p, pass);
    return cudnn_ban({p, entries, pass, capability, version});
}
std::string forward(const work::Attention& p, std::size_t version, int capability = 90) {
    return ban(p, version, AttentionPass::forward, capability);
}
std::string backward(const work::Attention& p, std::size_t version, int capability = 90) {
    return ban(p, version, AttentionPass::backward, capability);
}

TEST(CudnnBans, NothingIsHeldAgainstAGoodVersion) {
    for (const auto* mask :
         {"full", "causal", "causal+window:32", "window:32", "causal+document:100/156"}) {
        for (const std::size_t version : {91900U, 92600U}) {
            EXPECT_EQ(forward(attention({}, mask), version), "") << mask;
            EXPECT_EQ(backward(attention({}, mask), version), "") << mask;
        }
    }
    EXPECT_EQ(backward(attention({.dim = 192, .value_dim = 128}), 91900), "");
    EXPECT_EQ(backward(attention({.queries = 509, .keys = 509}), 91900), "");
    EXPECT_EQ(backward(ragged({}, {77, 200}), 91900), "");
}

TEST(CudnnBans, VersionsOfWrongResults) {
    EXPECT_THAT(forward(attention({}), 91000), HasSubstr("9.10.0 and 9.10.1"));
    EXPECT_THAT(backward(attention({}), 91001), HasSubstr("wrong results"));
    EXPECT_EQ(forward(attention({}), 91002), "");
    EXPECT_EQ(forward(attention({}), 90900), "");
    EXPECT_THAT(forward(attention({}), 90501), HasSubstr("before 9.6.0"));
}

TEST(CudnnBans, WindowsWithoutCausal) {
    const auto two_sided = [](std::int64_t keys) {
        return attention({.queries = 256, .keys = keys}, "window:32");
    };
    EXPECT_THAT(forward(two_sided(1025), 91400), HasSubstr("9.14.0"));
    EXPECT_EQ(forward(two_sided(1024), 91400), "");
    EXPECT_EQ(forward(two_sided(1025), 91401), "");
    EXPECT_EQ(forward(attention({.queries = 2048, .keys = 2048}, "causal+window:32"), 91400), "");
    EXPECT_THAT(forward(two_sided(256), 90900), HasSubstr("causal masks only"));
}

TEST(CudnnBans, KeysOutsideWholeTilesWantLengthsGoingBackward) {
    const auto wants = [](const work::Attention& p, std::size_t version, AttentionPass pass) {
        return cudnn_wants_lengths({p, cudnn_entries(p, pass), pass, 90, version});
    };
    const auto odd = attention({.queries = 509, .keys = 509});
    EXPECT_TRUE(wants(odd, 91500, AttentionPass::backward));
    EXPECT_TRUE(wants(odd, 91400, AttentionPass::backward));
    EXPECT_FALSE(wants(odd, 91501, AttentionPass::backward));
    EXPECT_FALSE(wants(odd, 91500, AttentionPass::forward));
    EXPECT_FALSE(wants(attention({}), 91500, AttentionPass::backward));
    EXPECT_FALSE(wants(ragged({}, {77, 200}), 91500, AttentionPass::backward));  // they have some
    EXPECT_EQ(backward(odd, 91500), "");
}

TEST(CudnnBans, OneQuery) {
    EXPECT_THAT(forward(attention({.queries = 1, .keys = 64}), 90900), HasSubstr("single query"));
    EXPECT_EQ(forward(attention({.queries = 1, .keys = 64}, "full"), 90900), "");
    EXPECT_EQ(forward(attention({.queries = 1, .keys = 64}), 91900), "");
    EXPECT_THAT(backward(attention({.queries = 1, .keys = 1}), 92600), HasSubstr("single key"));
}

TEST(CudnnBans, ChipsWithAmperesAttention) {
    for (const int capability : {80, 89, 120}) {
        EXPECT_THAT(backward(ragged({}, {77, 200}), 91900, capability), HasSubstr("back to back"));
        EXPECT_EQ(forward(ragged({}, {77, 200}), 91900, capability), "");
        EXPECT_THAT(backward(attention({.dim = 192, .value_dim = 128}), 91900, capability),
                    HasSubstr("up to 128"));
    }
    EXPECT_THAT(forward(ragged({}, {77, 200}), 91800, 80), HasSubstr("before 9.18.1"));
}

TEST(CudnnBans, Dims) {
    EXPECT_EQ(backward(attention({.dim = 256, .value_dim = 256}), 91900), "");
    EXPECT_THAT(backward(attention({.dim = 264, .value_dim = 256}), 91900), HasSubstr("up to 256"));
    EXPECT_EQ(forward(attention({.dim = 264, .value_dim = 256}), 91900), "");
    EXPECT_EQ(backward(attention({.dim = 192, .value_dim = 128}), 91900, 100), "");
    EXPECT_THAT(backward(attention({.dim = 192, .value_dim = 64}), 91900, 100),
                HasSubstr("up to 128"));
    EXPECT_THAT(backward(attention({.dim = 160, .value_dim = 128}), 91200),
                HasSubstr("none between"));
    EXPECT_EQ(backward(attention({.dim = 192, .value_dim = 128}), 91200), "");
}

TEST(CudnnBans, LogSumExpsInAnotherOrder) {
    auto by_query = attention({});
    by_query.of(work::AttentionTensor::lse) = {4 * 256, 1, 4};
    EXPECT_THAT(backward(by_query, 91900), HasSubstr("batch, head and query"));
    EXPECT_EQ(forward(by_query, 91900), "");
    EXPECT_EQ(backward(by_query, 92600), "");
}

}  // namespace
}  // namespace assay::cuda
