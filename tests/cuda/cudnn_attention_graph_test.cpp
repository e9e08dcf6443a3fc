#include <cmath>
#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention_problem.h"
#include "base/text.h"
#include "cuda/cudnn/attention_graph.h"

namespace assay::cuda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using work::AttentionLayout;
using work::AttentionPass;

CudnnGraph graph(const work::Attention& p, AttentionPass pass,
                 ScratchSize scratch = ScratchSize::by_token) {
    work::validate(p);
    return cudnn_attention_graph(p, cudnn_entries(p, pass), pass, scratch);
}
CudnnGraph forward(const work::Attention& p) {
    return graph(p, AttentionPass::forward);
}
CudnnGraph backward(const work::Attention& p, ScratchSize scratch = ScratchSize::by_token) {
    return graph(p, AttentionPass::backward, scratch);
}

std::string steps(const CudnnGraph& graph) {
    std::vector<std::string> names;
    for (const auto& node : graph.nodes) names.emplace_back(name(node.step));
    return join(names, " ");
}

std::vector<double> constants(const CudnnGraph& graph) {
    std::vector<double> values;
    for (const auto& tensor : graph.tensors) {
        if (tensor.place == GraphPlace::constant) values.push_back(tensor.value);
    }
    return values;
}

std::vector<TensorId> at(const CudnnGraph& graph, GraphPlace place) {
    std::vector<TensorId> ids;
    for (const auto& tensor : graph.tensors) {
        if (tensor.place == place) ids.push_back(tensor.id);
    }
    return ids;
}

const std::string kScores = "matmul multiply ";
const std::string kPadding = "row_index column_index less less logical_and select ";
const std::string kRight = "row_index column_index greater_equal select ";
const std::string kLeft = "row_index column_index add greater select ";
const std::string kSoftmax = "maximum subtract exp sum log add divide matmul";

TEST(CudnnForwardGraph, HasTheStepsOfItsMask) {
    const auto of = [](const char* mask) { return steps(forward(attention({}, mask))); };
    EXPECT_EQ(of("full"), kScores + kSoftmax);
    EXPECT_EQ(of("causal"), kScores + kRight + kSoftmax);
    EXPECT_EQ(of("causal+window:32"), kScores + kRight + kLeft + kSoftmax);
    EXPECT_EQ(of("window:32"),
              kScores + "row_index column_index add greater_equal select " + kLeft + kSoftmax);
    EXPECT_EQ(of("causal+document:100/156"), kScores + kPadding + kRight + kSoftmax);
    EXPECT_EQ(of("document:100/156"), kScores + kPadding + kSoftmax);
}

TEST(CudnnForwardGraph, LeavesOutBoundsThatHideNothing) {
    const auto causal = steps(forward(attention({})));
    EXPECT_EQ(steps(forward(attention({}, "causal+window:256"))), causal);
    EXPECT_NE(steps(forward(attention({}, "causal+window:255"))), causal);
    EXPECT_EQ(steps(forward(attention({}, "causal:bottom-right"))), causal);
    EXPECT_EQ(steps(forward(attention({}, "window:256"))), steps(forward(attention({}, "full"))));
    // Of the longest document.
    EXPECT_EQ(steps(forward(attention({}, "causal+window:156+document:100/156"))),
              steps(forward(attention({}, "causal+document:100/156"))));
}

TEST(CudnnForwardGraph, AWindowIsTheKeysThatAQuerySees) {
    const double scale = 1 / std::sqrt(64.0), hidden = -std::numeric_limits<double>::infinity();
    EXPECT_THAT(constants(forward(attention({}, "causal+window:32"))),
                ElementsAre(scale, hidden, 32, hidden));
    EXPECT_THAT(constants(forward(attention({}, "window:32"))),
                ElementsAre(scale, 31, hidden, 32, hidden));
}

// row + 256 - 100 >= column, and column + 32 - 156 > row.
TEST(CudnnForwardGraph, ADiagonalAtTheBottomRightIsMoved) {
    const auto g = forward(attention({.queries = 100}, "causal:bottom-right+window:32"));
    EXPECT_EQ(steps(g), kScores + "row_index column_index add subtract greater_equal select " +
                            kLeft + kSoftmax);
    EXPECT_THAT(constants(g),
                ElementsAre(1 / std::sqrt(64.0), 256, 100, -INFINITY, 32 - 156, -INFINITY));
    EXPECT_EQ(g.tensor(g.nodes[4].output).element, GraphElement::int32);
}

TEST(CudnnForwardGraph, ADiagonalOfEachEntryIsMovedByItsLengths) {
    auto p = ragged({}, {50, 60}, "causal:bottom-right+window:32");
    p.key_lengths = {200, 256};
    const auto g = forward(p);
    EXPECT_EQ(steps(g), kScores + kPadding +
                            "row_index column_index add subtract greater_equal select "
                            "row_index column_index add subtract add greater select " +
                            kSoftmax);
    const auto& moved = g.nodes[10];
    EXPECT_EQ(moved.step, GraphStep::add);
    EXPECT_EQ(moved.inputs[1], id_key_lengths);
    EXPECT_EQ(g.nodes[11].inputs[1], id_query_lengths);
}

TEST(CudnnForwardGraph, DescribesOperandsAsTheyLie) {
    const auto g = forward(attention(
        {.heads = 4, .kv_heads = 2, .queries = 100, .keys = 200, .dim = 64, .value_dim = 32}));
    EXPECT_THAT(g.tensor(id_q).dims, ElementsAre(2, 4, 100, 64));
    EXPECT_THAT(g.tensor(id_q).strides, ElementsAre(100 * 256, 64, 256, 1));
    // Rows and elements exchanged.
    EXPECT_THAT(g.tensor(id_k).dims, ElementsAre(2, 2, 64, 200));
    EXPECT_THAT(g.tensor(id_k).strides, ElementsAre(200 * 128, 64, 1, 128));
    EXPECT_THAT(g.tensor(id_v).dims, ElementsAre(2, 2, 200, 32));
    EXPECT_THAT(g.tensor(id_v).strides, ElementsAre(200 * 64, 32, 64, 1));
    EXPECT_THAT(g.tensor(id_o).strides, ElementsAre(100 * 128, 32, 128, 1));
    EXPECT_THAT(g.tensor(id_lse).dims, ElementsAre(2, 4, 100, 1));
    EXPECT_THAT(g.tensor(id_lse).strides, ElementsAre(400, 100, 1, 1));
    EXPECT_EQ(g.tensor(id_lse).element, GraphElement::fp32);
    EXPECT_EQ(g.tensor(id_q).element, GraphElement::bf16);
    EXPECT_THAT(at(g, GraphPlace::table), IsEmpty());
    EXPECT_THAT(at(g, GraphPlace::scratch), IsEmpty());
    // What the second product reads is of the operands' type.
    EXPECT_EQ(g.tensor(g.nodes.back().inputs[0]).element, GraphElement::bf16);
    EXPECT_EQ(g.tensor(g.nodes.back().inputs[0]).place, GraphPlace::inner);
}

TEST(CudnnForwardGraph, ReadsPackedOperandsInPlace) {
    const auto g = forward(attention({.heads = 4, .kv_heads = 2}, "causal", AttentionLayout::packed,
                                     work::Type::fp16));
    EXPECT_THAT(g.tensor(id_q).strides, ElementsAre(256 * 512, 64, 512, 1));
    EXPECT_THAT(g.tensor(id_k).strides, ElementsAre(256 * 512, 64, 1, 512));
    EXPECT_THAT(g.tensor(id_o).strides, ElementsAre(256 * 256, 64, 256, 1));
    EXPECT_EQ(g.tensor(id_v).element, GraphElement::fp16);
}

TEST(CudnnForwardGraph, GivesEntriesTheirLengthsAndOffsets) {
    const auto g = forward(attention({.kv_heads = 2}, "causal+document:100/156"));
    EXPECT_THAT(at(g, GraphPlace::table),
                ElementsAre(id_query_lengths, id_key_lengths, id_offsets, id_offsets + 1,
                            id_offsets + 2, id_offsets + 3, id_offsets + 4));
    EXPECT_THAT(g.tensor(id_query_lengths).dims, ElementsAre(4, 1, 1, 1));
    EXPECT_EQ(g.tensor(id_query_lengths).element, GraphElement::int32);
    EXPECT_THAT(g.tensor(id_offsets).dims, ElementsAre(5, 1, 1, 1));
    EXPECT_EQ(g.tensor(id_offsets).element, GraphElement::int64);
    EXPECT_THAT(g.tensor(id_q).dims, ElementsAre(4, 4, 156, 64));
    EXPECT_EQ(g.tensor(id_q).offsets, id_offsets);
    EXPECT_EQ(g.tensor(id_k).offsets, id_offsets + 1);
    EXPECT_EQ(g.tensor(id_lse).offsets, id_offsets + 4);
    // As the problem's own lie: by token, then head.
    EXPECT_THAT(g.tensor(id_lse).strides, ElementsAre(4 * 156, 1, 4, 1));
    const auto& scores = g.nodes.front();
    EXPECT_EQ(scores.rows, id_query_lengths);
    EXPECT_EQ(scores.columns, id_key_lengths);
    EXPECT_EQ(g.nodes.back().rows, id_query_lengths);
    EXPECT_EQ(g.nodes.back().inner, id_key_lengths);
}

TEST(CudnnForwardGraph, NamesATensorBeforeItIsUsedAndOnlyOnce) {
    for (const auto* mask : {"full", "causal+window:32", "causal+document:100/156"}) {
        for (const auto pass : {AttentionPass::forward, AttentionPass::backward}) {
            const auto g = graph(attention({.kv_heads = 2}, mask), pass);
            std::set<TensorId> known;
            for (const auto& tensor : g.tensors) {
                EXPECT_TRUE(tensor.offsets == 0 || known.contains(tensor.offsets));
                EXPECT_TRUE(known.insert(tensor.id).second) << tensor.id;
            }
            std::set<TensorId> made;
            for (const auto& node : g.nodes) {
                for (const auto input : node.inputs) {
                    EXPECT_TRUE(known.contains(input));
                    const auto place = g.tensor(input).place;
                    EXPECT_TRUE(made.contains(input) ||
                                (place != GraphPlace::inner && place != GraphPlace::scratch));
                }
                EXPECT_TRUE(made.insert(node.output).second);
            }
        }
    }
}

const std::string kDelta = "multiply sum multiply ";
const std::string kKeyGradient = "reshape matmul ";

TEST(CudnnBackwardGraph, HasTheStepsOfItsMask) {
    const auto of = [](const char* mask) { return steps(backward(attention({}, mask))); };
    const auto rest = "exp " + kKeyGradient + "matmul subtract multiply multiply " + kKeyGradient +
                      "reshape matmul identity";
    EXPECT_EQ(of("full"), kDelta + kScores + "subtract " + rest);
    EXPECT_EQ(of("causal"), kDelta + kScores + "subtract " + kRight + rest);
    EXPECT_EQ(of("causal+window:32"), kDelta + kScores + "subtract " + kRight + kLeft + rest);
    EXPECT_EQ(of("causal+document:100/156"),
              kDelta + kScores + kPadding + "subtract " + kRight + rest);
}

// Its padding is masked, and its memory lies as ever.
TEST(CudnnBackwardGraph, EqualLengthsWrittenOutMaskWhatLiesBehindThem) {
    const auto p = attention({.queries = 509, .keys = 509}, "causal");
    const auto pass = AttentionPass::backward;
    const auto g =
        cudnn_attention_graph(p, with_lengths(cudnn_entries(p, pass)), pass, ScratchSize::by_token);
    EXPECT_EQ(steps(g), steps(backward(attention({}, "causal+document:100/156"))));
    EXPECT_THAT(at(g, GraphPlace::table), ElementsAre(id_query_lengths, id_key_lengths));
    const auto plain = backward(p);
    for (const TensorId id : {id_q, id_k, id_v, id_lse, id_d_q, id_d_q_sum, id_delta}) {
        EXPECT_EQ(g.tensor(id).offsets, 0);
        EXPECT_EQ(g.tensor(id).strides, plain.tensor(id).strides);
        EXPECT_EQ(g.tensor(id).bytes, plain.tensor(id).bytes);
    }
}

TEST(CudnnBackwardGraph, AddsUpTheHeadsOfAGroup) {
    EXPECT_EQ(steps(backward(attention({.kv_heads = 2}, "full"))),
              kDelta + kScores +
                  "subtract exp reshape matmul sum matmul subtract multiply multiply "
                  "reshape matmul sum reshape matmul identity");
}

// Virtual, they would cost a kernel of an earlier architecture or a score matrix in memory.
TEST(CudnnBackwardGraph, KeepsDeltaAndTheSumOfQueryGradientsInMemory) {
    const auto g = backward(attention({.kv_heads = 2, .queries = 100}));
    EXPECT_THAT(at(g, GraphPlace::scratch), UnorderedElementsAre(id_delta, id_d_q_sum));
    EXPECT_EQ(g.tensor(id_delta).element, GraphElement::fp32);
    EXPECT_EQ(g.tensor(id_delta).bytes, 2U * 4 * 100 * 4);
    EXPECT_EQ(g.tensor(id_d_q_sum).element, GraphElement::fp32);
    EXPECT_EQ(g.tensor(id_d_q_sum).bytes, 2U * 4 * 100 * 64 * 4);
    EXPECT_THAT(g.tensor(id_d_q_sum).strides, ElementsAre(4 * 100 * 64, 100 * 64, 64, 1));
    EXPECT_EQ(g.nodes[2].output, id_delta);
    EXPECT_EQ(g.tensor(g.nodes[2].inputs[1]).value, 1);
}

TEST(CudnnBackwardGraph, TurnsScoresOfFewerQueriesThanKeys) {
    const auto g = backward(attention({.queries = 100, .keys = 200}));
    for (const auto& node : g.nodes) {
        if (node.step != GraphStep::reshape || node.inputs[0] == id_k) continue;
        EXPECT_THAT(g.tensor(node.output).dims, ElementsAre(2, 4, 200, 100));
        EXPECT_THAT(g.tensor(node.output).strides, ElementsAre(4 * 100 * 200, 100 * 200, 1, 200));
        EXPECT_EQ(g.tensor(node.output).element, GraphElement::bf16);
    }
    EXPECT_THAT(g.tensor(id_d_k).dims, ElementsAre(2, 4, 200, 64));
    EXPECT_THAT(g.tensor(id_k).dims, ElementsAre(2, 4, 64, 200));
}

TEST(CudnnBackwardGraph, ScratchOfEntriesBackToBackFollowsTheirTokens) {
    const auto p = ragged({.heads = 4, .kv_heads = 2, .dim = 64, .value_dim = 32}, {100, 20});
    const auto g = backward(p);
    EXPECT_THAT(at(g, GraphPlace::scratch),
                UnorderedElementsAre(id_delta, id_d_q_sum, id_d_k_heads, id_d_v_heads));
    EXPECT_EQ(g.tensor(id_delta).offsets, g.tensor(id_lse).offsets);
    EXPECT_THAT(g.tensor(id_delta).strides, ElementsAre(100 * 4, 1, 4, 1));
    EXPECT_EQ(g.tensor(id_d_q_sum).offsets, g.tensor(id_q).offsets);
    EXPECT_EQ(g.tensor(id_d_q_sum).strides, g.tensor(id_q).strides);
    // The library multiplies the offsets of k and v by the group.
    EXPECT_EQ(g.tensor(id_d_k_heads).offsets, g.tensor(id_k).offsets);
    EXPECT_THAT(g.tensor(id_d_k_heads).dims, ElementsAre(2, 4, 100, 64));
    EXPECT_THAT(g.tensor(id_d_k_heads).strides, ElementsAre(2 * 100 * 128, 64, 256, 1));
    EXPECT_THAT(g.tensor(id_d_v_heads).strides, ElementsAre(2 * 100 * 64, 32, 128, 1));
    // 120 tokens and a whole tile of 128 more.
    EXPECT_GE(g.tensor(id_d_q_sum).bytes, 248U * 4 * 64 * 4);
    EXPECT_LE(g.tensor(id_d_q_sum).bytes, 249U * 4 * 64 * 4);
    EXPECT_GE(g.tensor(id_d_k_heads).bytes, 248U * 4 * 64 * 4);
    EXPECT_GE(g.tensor(id_delta).bytes, 248U * 4 * 4);
}

TEST(CudnnBackwardGraph, ScratchAsIfAllEntriesWereLongestNeedsNoOffsets) {
    const auto g =
        backward(ragged({.heads = 4, .kv_heads = 2}, {100, 20}), ScratchSize::by_longest);
    EXPECT_THAT(at(g, GraphPlace::scratch), UnorderedElementsAre(id_delta, id_d_q_sum));
    EXPECT_EQ(g.tensor(id_delta).offsets, 0);
    EXPECT_EQ(g.tensor(id_delta).bytes, 2U * 4 * 100 * 4);
    EXPECT_EQ(g.tensor(id_d_q_sum).offsets, 0);
    EXPECT_EQ(g.tensor(id_d_q_sum).bytes, 2U * 4 * 100 * 64 * 4);
}

}  // namespace
}  // namespace assay::cuda
