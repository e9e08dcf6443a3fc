// Does the comparison with the oracle see a mistake that is small beside the tensor?
#include "attention_arrays.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <gmock/gmock.h>

#include "attention_problem.h"
#include "work/fill.h"

namespace assay::cuda {
namespace {

using testing::HasSubstr;
using work::AttentionTensor;
using work::Type;

// As many rows as half a wrong one is lost in.
work::Attention many_rows(Type type) {
    return attention({1, 64, 64, 96, 96, 8, 8}, "causal", work::AttentionLayout::bhsd, type);
}

AttentionExample right_answers(Type type) {
    AttentionExample example(many_rows(type));
    example.take_forward();
    example.take_backward();
    return example;
}

// Doubles the first half of a row. Returns how far the whole tensor is off by then.
double spoil(const work::Attention& p, std::vector<unsigned char>& array, AttentionTensor tensor,
             std::int64_t head, std::int64_t row) {
    const auto width = work::width_of(p, tensor);
    const auto at = work::position(p, tensor, 0, head, row);
    double added = 0, whole = 0;
    for (std::int64_t c = 0; c < width / 2; ++c) {
        const auto i = static_cast<std::uint64_t>(at + c);
        const double value = work::load(p.type, array.data(), i);
        added += value * value;
        work::store(p.type, 2 * value, array.data() + i * work::size_of(p.type));
    }
    work::each_row(p, tensor, [&](std::int64_t entry, std::int64_t h, std::int64_t r) {
        const auto begin = work::position(p, tensor, entry, h, r);
        for (std::int64_t c = 0; c < width; ++c) {
            whole += std::pow(
                work::load(p.type, array.data(), static_cast<std::uint64_t>(begin + c)), 2);
        }
    });
    return std::sqrt(added / whole);
}

TEST(CudaAttentionExample, TakesTheOraclesOwnAnswers) {
    for (const auto type : {Type::fp32, Type::bf16, Type::fp16}) {
        const auto example = right_answers(type);
        EXPECT_EQ(example.forward_mistake(), "");
        EXPECT_EQ(example.backward_mistake(), "");
    }
}

TEST(CudaAttentionExample, SeesHalfAWrongRowThatTheWholeNormLoses) {
    const auto p = many_rows(Type::bf16);
    auto example = right_answers(p.type);
    constexpr std::int64_t kHead = 40, kRow = 50;
    const auto row = "row " + std::to_string(kHead * p.queries + kRow) + " of ";
    const auto check = [&](std::vector<unsigned char> AttentionArrays::*array, const char* name,
                           AttentionTensor tensor, auto mistake) {
        auto& spoiled = example.arrays().*array;
        const auto right = spoiled;
        EXPECT_LT(spoil(p, spoiled, tensor, kHead, kRow), work::tolerance(p.type)) << name;
        EXPECT_THAT((example.*mistake)(), HasSubstr(row + name));
        spoiled = right;
        EXPECT_EQ((example.*mistake)(), "");
    };
    const auto forward = &AttentionExample::forward_mistake;
    const auto backward = &AttentionExample::backward_mistake;
    check(&AttentionArrays::o, "o", AttentionTensor::o, forward);
    check(&AttentionArrays::d_q, "d_q", AttentionTensor::q, backward);
    check(&AttentionArrays::d_k, "d_k", AttentionTensor::k, backward);
    check(&AttentionArrays::d_v, "d_v", AttentionTensor::v, backward);
}

TEST(CudaAttentionExample, HoldsEachLogSumExpToFp32) {
    for (const auto type : {Type::bf16, Type::fp16}) {
        const auto p = many_rows(type);
        auto example = right_answers(type);
        auto& lse = example.arrays().lse;
        const auto at =
            static_cast<std::uint64_t>(work::position(p, AttentionTensor::lse, 0, 40, 50));
        const double right = work::load(Type::fp32, lse.data(), at);
        const auto set = [&](double value) {
            work::store(Type::fp32, value, lse.data() + at * sizeof(float));
        };
        set(right + 0.5e-4);
        EXPECT_EQ(example.forward_mistake(), "");
        set(right + 2e-4 * std::max(1.0, right));
        EXPECT_THAT(example.forward_mistake(), HasSubstr("lse[0, 40, 50]"));
    }
}

}  // namespace
}  // namespace assay::cuda
