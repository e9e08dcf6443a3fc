#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention_problem.h"
#include "base/error.h"
#include "cuda/cudnn/entries.h"

namespace assay::cuda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using work::AttentionLayout;
using work::AttentionPass;
using work::AttentionTensor;

CudnnEntries of(const work::Attention& p, AttentionPass pass = AttentionPass::forward) {
    work::validate(p);
    return cudnn_entries(p, pass);
}

TEST(CudnnEntriesTest, EqualLengthsNeedNoTables) {
    const auto entries = of(attention({.batch = 3, .queries = 100, .keys = 300}, "full"));
    EXPECT_EQ(entries.count, 3);
    EXPECT_EQ(entries.queries, 100);
    EXPECT_EQ(entries.keys, 300);
    EXPECT_FALSE(entries.has_lengths());
    EXPECT_TRUE(entries.lengths_differ());
    EXPECT_THAT(entries.offsets_of(AttentionTensor::q), IsEmpty());
}

TEST(CudnnEntriesTest, EqualLengthsCanBeWrittenOut) {
    const auto p = attention({.batch = 3, .queries = 100, .keys = 300}, "full");
    const auto entries = with_lengths(of(p));
    EXPECT_THAT(entries.query_lengths, ElementsAre(100, 100, 100));
    EXPECT_THAT(entries.key_lengths, ElementsAre(300, 300, 300));
    EXPECT_TRUE(entries.lengths_differ());
    for (const auto tensor : {AttentionTensor::q, AttentionTensor::k, AttentionTensor::lse}) {
        EXPECT_FALSE(entries.has_offsets(tensor));
        EXPECT_EQ(cudnn_strides(p, entries, tensor), cudnn_strides(p, of(p), tensor));
    }
    const auto own = of(ragged({}, {77, 200}));
    EXPECT_EQ(with_lengths(own).key_lengths, own.key_lengths);
}

TEST(CudnnEntriesTest, DocumentsAreEntriesOfTheirOwnLengthsAndPlaces) {
    const auto entries = of(attention({.batch = 2,
                                       .heads = 4,
                                       .kv_heads = 2,
                                       .queries = 10,
                                       .keys = 10,
                                       .dim = 16,
                                       .value_dim = 8},
                                      "causal+document:3/5/2"));
    EXPECT_EQ(entries.count, 6);
    EXPECT_EQ(entries.queries, 5);
    EXPECT_EQ(entries.keys, 5);
    EXPECT_THAT(entries.query_lengths, ElementsAre(3, 5, 2, 3, 5, 2));
    EXPECT_THAT(entries.key_lengths, ElementsAre(3, 5, 2, 3, 5, 2));
    // By token: 4 x 16 elements of q, 2 x 16 of k, 2 x 8 of v, 4 x 8 of o.
    EXPECT_THAT(entries.offsets_of(AttentionTensor::q),
                ElementsAre(0, 3 * 64, 8 * 64, 10 * 64, 13 * 64, 18 * 64, 20 * 64));
    EXPECT_THAT(entries.offsets_of(AttentionTensor::k),
                ElementsAre(0, 3 * 32, 8 * 32, 10 * 32, 13 * 32, 18 * 32, 20 * 32));
    EXPECT_THAT(entries.offsets_of(AttentionTensor::v),
                ElementsAre(0, 3 * 16, 8 * 16, 10 * 16, 13 * 16, 18 * 16, 20 * 16));
    EXPECT_THAT(entries.offsets_of(AttentionTensor::o),
                ElementsAre(0, 3 * 32, 8 * 32, 10 * 32, 13 * 32, 18 * 32, 20 * 32));
    // By token and head too.
    EXPECT_THAT(entries.offsets_of(AttentionTensor::lse), ElementsAre(0, 12, 32, 40, 52, 72, 80));
}

TEST(CudnnEntriesTest, PackedDocumentsStepOverAllThreeTensors) {
    const auto p = attention({.batch = 1,
                              .heads = 4,
                              .kv_heads = 2,
                              .queries = 10,
                              .keys = 10,
                              .dim = 16,
                              .value_dim = 16},
                             "causal+document:3/7", AttentionLayout::packed);
    const auto entries = of(p);
    for (const auto tensor : {AttentionTensor::q, AttentionTensor::k, AttentionTensor::v}) {
        EXPECT_THAT(entries.offsets_of(tensor), ElementsAre(0, 3 * 128, 10 * 128));
        EXPECT_EQ(cudnn_strides(p, entries, tensor), (work::AttentionStrides{7 * 128, 16, 128}));
    }
}

TEST(CudnnEntriesTest, RaggedEntriesOfNothingAreLeftOut) {
    const auto p = ragged({.heads = 2, .kv_heads = 2, .dim = 8, .value_dim = 8}, {5, 0, 7});
    const auto entries = of(p);
    EXPECT_EQ(entries.count, 2);
    EXPECT_EQ(entries.queries, 7);
    EXPECT_THAT(entries.query_lengths, ElementsAre(5, 7));
    EXPECT_THAT(entries.offsets_of(AttentionTensor::q), ElementsAre(0, 5 * 16, 12 * 16));
    EXPECT_THAT(entries.offsets_of(AttentionTensor::lse), ElementsAre(0, 5 * 2, 12 * 2));
    EXPECT_THROW(of(ragged({}, {0, 0})), Unsupported);
}

// The backward pass has zeros to write for keys that no query sees.
TEST(CudnnEntriesTest, KeysWithoutQueriesMatterToTheBackwardPassOnly) {
    auto p = ragged({}, {5, 9});
    p.query_lengths[0] = 0;
    EXPECT_EQ(of(p, AttentionPass::forward).count, 1);
    EXPECT_EQ(of(p, AttentionPass::forward).offsets_of(AttentionTensor::k).front(), 5 * 4 * 64);
    EXPECT_EQ(of(p, AttentionPass::backward).count, 2);
}

TEST(CudnnEntriesTest, RaggedEntriesInPlacesOfTheirOwnHaveLengthsOnly) {
    auto p = attention({.batch = 2, .queries = 64, .keys = 64}, "causal", AttentionLayout::bhsd);
    p.query_lengths = p.key_lengths = {10, 40};
    const auto entries = of(p);
    EXPECT_EQ(entries.count, 2);
    EXPECT_EQ(entries.queries, 64);  // the places' own length
    EXPECT_THAT(entries.query_lengths, ElementsAre(10, 40));
    EXPECT_FALSE(entries.has_offsets(AttentionTensor::q));
    EXPECT_FALSE(entries.has_offsets(AttentionTensor::lse));
    p.query_lengths = p.key_lengths = {0, 40};
    EXPECT_THROW(of(p), Unsupported);
}

TEST(CudnnEntriesTest, LogSumExpMayHavePlacesOfItsOwn) {
    auto p = ragged({.heads = 2, .kv_heads = 2, .queries = 64, .keys = 64}, {10, 40});
    p.of(AttentionTensor::lse) = {2 * 64, 64, 1};
    const auto entries = of(p);
    EXPECT_TRUE(entries.has_offsets(AttentionTensor::q));
    EXPECT_FALSE(entries.has_offsets(AttentionTensor::lse));
    EXPECT_EQ(entries.queries, 64);
}

TEST(CudnnEntriesTest, DocumentsHaveToLieInOrder) {
    EXPECT_THROW(of(attention({}, "document:100/156", AttentionLayout::bhsd)), Unsupported);
    auto apart = attention({}, "document:100/156");
    apart.of(AttentionTensor::k).batch *= 2;
    EXPECT_THROW(of(apart), Unsupported);
    apart.batch = 1;
    EXPECT_EQ(of(apart).count, 2);
}

TEST(CudnnEntriesTest, StridesThatNothingNeedsAreThoseOfACompactTensor) {
    auto p = attention({.batch = 1, .heads = 1, .kv_heads = 1, .queries = 1, .keys = 9});
    p.of(AttentionTensor::q) = {0, 3, 5};
    const auto entries = of(p);
    EXPECT_EQ(cudnn_strides(p, entries, AttentionTensor::q), (work::AttentionStrides{64, 64, 64}));
}

}  // namespace
}  // namespace assay::cuda
