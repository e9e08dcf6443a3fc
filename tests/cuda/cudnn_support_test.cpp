#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention_problem.h"
#include "base/error.h"
#include "cuda/cudnn/support.h"

namespace assay::cuda {
namespace {

using testing::HasSubstr;
using work::AttentionLayout;
using work::AttentionPass;
using work::AttentionTensor;

// What it complains of; "" when it doesn't.
std::string complaint(const work::Attention& p, AttentionPass pass = AttentionPass::forward,
                      int capability = 90) {
    work::validate(p);
    try {
        require_cudnn_attention(p, cudnn_entries(p, pass), pass, capability);
        return "";
    } catch (const Unsupported& error) {
        return error.what();
    }
}

std::string changed(const std::function<void(work::Attention&)>& change) {
    auto p = attention({});
    change(p);
    return complaint(p);
}

TEST(CudnnSupport, TakesWhatItHasKernelsFor) {
    for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
        for (const auto layout :
             {AttentionLayout::bhsd, AttentionLayout::bshd, AttentionLayout::packed}) {
            for (const auto* mask :
                 {"full", "causal", "causal:bottom-right", "causal+window:32", "window:32"}) {
                EXPECT_EQ(complaint(attention({.kv_heads = 2}, mask, layout), pass), "") << mask;
            }
        }
        EXPECT_EQ(complaint(attention({.dim = 192, .value_dim = 128}), pass), "");
        EXPECT_EQ(complaint(attention({.queries = 509, .keys = 509}), pass), "");
        EXPECT_EQ(complaint(attention({.queries = 100}, "causal:bottom-right+window:5"), pass), "");
        EXPECT_EQ(complaint(attention({.queries = 300}, "causal"), pass), "");
        EXPECT_EQ(complaint(ragged({}, {5, 256, 77}), pass), "");
        EXPECT_EQ(complaint(attention({}, "causal+window:9+document:100/156"), pass), "");
    }
}

TEST(CudnnSupport, NamesTypesAndDevicesItLacks) {
    EXPECT_THAT(changed([](auto& p) { p.type = work::Type::fp32; }), HasSubstr("fp32"));
    EXPECT_THAT(changed([](auto& p) { p.type = work::Type::fp64; }), HasSubstr("fp64"));
    EXPECT_EQ(changed([](auto& p) { p.type = work::Type::fp16; }), "");
    EXPECT_THAT(complaint(attention({}), AttentionPass::forward, 75), HasSubstr("7.5"));
    EXPECT_EQ(complaint(attention({}), AttentionPass::forward, 80), "");
}

TEST(CudnnSupport, NamesModifiersAndMasksItLacks) {
    EXPECT_THAT(changed([](auto& p) { p.modifier.soft_cap = 30; }), HasSubstr("soft cap"));
    EXPECT_THAT(changed([](auto& p) { p.modifier.alibi = true; }), HasSubstr("ALiBi"));
    EXPECT_THAT(changed([](auto& p) { p.modifier.bias = true; }), HasSubstr("bias"));
    EXPECT_THAT(changed([](auto& p) { p.mask.prefix = 4; }), HasSubstr("prefix"));
    EXPECT_THAT(complaint(attention({}, "blocks:128:0/0-1")), HasSubstr("blocks"));
}

TEST(CudnnSupport, NamesDimsAndStridesThatArentAligned) {
    EXPECT_THAT(complaint(attention({.dim = 60})), HasSubstr("dims 60 and 64"));
    EXPECT_THAT(complaint(attention({.value_dim = 4})), HasSubstr("dims 64 and 4"));
    EXPECT_THAT(changed([](auto& p) {
                    p.of(AttentionTensor::v) = {256 * 260, 64, 260};
                }),
                HasSubstr("260 elements apart"));
    // A batch of one needs no distance to the next.
    EXPECT_EQ(changed([](auto& p) {
                  p.batch = 1;
                  p.of(AttentionTensor::v).batch += 4;
              }),
              "");
}

TEST(CudnnSupport, RefusesQueriesThatSeeNoKey) {
    EXPECT_THAT(complaint(attention({.queries = 300}, "causal:bottom-right")),
                HasSubstr("the first stand before them (300 queries, 256 keys)"));
    EXPECT_THAT(complaint(attention({.queries = 300}, "causal+window:8")),
                HasSubstr("outside their window"));
    EXPECT_THAT(complaint(attention({.queries = 300}, "causal+window:100")),
                HasSubstr("more queries (300) than keys (256)"));
    auto p = ragged({}, {5, 9});
    p.key_lengths[1] = 0;
    EXPECT_THAT(complaint(p), HasSubstr("there is none"));
    p.key_lengths[1] = 3;
    EXPECT_EQ(complaint(p), "");
    p.mask.alignment = work::Alignment::bottom_right;
    EXPECT_THAT(complaint(p), HasSubstr("(9 queries, 3 keys)"));
}

TEST(CudnnSupport, RefusesKeysWithoutQueriesGoingBackward) {
    auto p = ragged({}, {5, 9});
    p.query_lengths[0] = 0;
    EXPECT_EQ(complaint(p, AttentionPass::forward), "");
    EXPECT_THAT(complaint(p, AttentionPass::backward), HasSubstr("keys without queries"));
}

}  // namespace
}  // namespace assay::cuda
