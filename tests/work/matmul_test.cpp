#include "work/matmul.h"

#include <gtest/gtest.h>

#include "base/expect_error.h"

namespace assay::work {
namespace {

Matmul shaped(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
    Matmul problem;
    problem.m = m;
    problem.n = n;
    problem.k = k;
    problem.batch = batch;
    return problem;
}

TEST(Matmul, CountsTwoOperationsAMultiplyAdd) {
    EXPECT_EQ(flop(shaped(2, 3, 5)), 60);
    EXPECT_EQ(flop(shaped(16384, 8192, 1280)), 343597383680.0);
    EXPECT_EQ(flop(shaped(8192, 8192, 8192, 7)), 7 * 1099511627776.0);
    constexpr std::int64_t kLargest = 2147483647;
    EXPECT_EQ(flop(shaped(kLargest, 1, 1)), 2.0 * kLargest);
    EXPECT_GT(flop(shaped(kLargest, kLargest, kLargest)), 1.98e28);
}

TEST(Matmul, CountsElementsAndBytesOfTheBatch) {
    Matmul problem = shaped(2, 3, 5, 4);
    problem.operand = Type::fp8_e4m3fn;
    problem.output = Type::bf16;
    EXPECT_EQ(a_elements(problem), 40U);
    EXPECT_EQ(b_elements(problem), 60U);
    EXPECT_EQ(c_elements(problem), 24U);
    EXPECT_EQ(bytes(problem), 40U + 60 + 48);
    problem.epilogue = Epilogue::bias_gelu;
    EXPECT_EQ(bytes(problem), 40U + 60 + 48 + 6);
    problem.epilogue = Epilogue::gelu;
    EXPECT_EQ(bytes(problem), 40U + 60 + 48);
}

TEST(Matmul, LayoutSaysWhichOperandIsTransposed) {
    for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn, Layout::tt}) {
        EXPECT_EQ(parse_layout(name(layout)), layout);
        EXPECT_EQ(a_transposed(layout), name(layout)[0] == 't');
        EXPECT_EQ(b_transposed(layout), name(layout)[1] == 't');
    }
    expect_error<UsageError>([] { parse_layout("nx"); }, R"(unknown layout "nx")", "nn");
}

TEST(Matmul, EpilogueSaysWhatItAdds) {
    for (const Epilogue epilogue :
         {Epilogue::none, Epilogue::bias, Epilogue::gelu, Epilogue::bias_gelu}) {
        EXPECT_EQ(parse_epilogue(name(epilogue)), epilogue);
        EXPECT_EQ(has_bias(epilogue), name(epilogue).find("bias") != std::string_view::npos);
        EXPECT_EQ(has_gelu(epilogue), name(epilogue).find("gelu") != std::string_view::npos);
    }
    expect_error<UsageError>([] { parse_epilogue("relu"); }, R"(unknown epilogue "relu")", "gelu");
}

TEST(Matmul, DefaultsKeepTheWiderSums) {
    EXPECT_EQ(default_accumulate(Type::int8), Type::int32);
    EXPECT_EQ(default_output(Type::int8), Type::int32);
    EXPECT_EQ(default_accumulate(Type::fp8_e5m2), Type::fp32);
    EXPECT_EQ(default_output(Type::fp8_e5m2), Type::bf16);
    EXPECT_EQ(default_accumulate(Type::fp64), Type::fp64);
    EXPECT_EQ(default_output(Type::fp64), Type::fp64);
    EXPECT_EQ(default_accumulate(Type::bf16), Type::fp32);
    EXPECT_EQ(default_output(Type::bf16), Type::bf16);
    EXPECT_EQ(default_output(Type::tf32), Type::fp32);
}

TEST(Validate, TakesTheWholeRange) {
    EXPECT_NO_THROW(validate(shaped(1, 1, 1)));
    EXPECT_NO_THROW(validate(shaped(2147483647, 1, 2147483647 / 8)));
    EXPECT_NO_THROW(validate(shaped(1, 1, 1, 2147483647)));
}

TEST(Validate, NamesTheDimensionOutsideIt) {
    const auto message = [](const Matmul& problem) { return [=] { validate(problem); }; };
    const char* hint = "whole numbers";
    expect_error<UsageError>(message(shaped(0, 5, 5)), "M of 0x5x5 is 0: must be 1 to 2147483647",
                             hint);
    expect_error<UsageError>(message(shaped(5, -3, 5)),
                             "N of 5x-3x5 is -3: must be 1 to 2147483647", hint);
    expect_error<UsageError>(message(shaped(5, 5, 2147483648)),
                             "K of 5x5x2147483648 is 2147483648: must be 1 to 2147483647", hint);
    expect_error<UsageError>(message(shaped(5, 5, 5, 0)),
                             "batch of 5x5x5 is 0: must be 1 to 2147483647", hint);
}

TEST(Validate, RejectsWhatNoMachineCanAddress) {
    expect_error<UsageError>([] { validate(shaped(2147483647, 1, 2147483647)); },
                             "operands of 2147483647x1x2147483647, batch 1, take 16.0 EiB: no "
                             "machine holds that",
                             "smaller");
    // Just below, the counts must still be exact.
    const Matmul largest = shaped(2147483647, 1, 536870911);
    EXPECT_NO_THROW(validate(largest));
    EXPECT_EQ(a_elements(largest), std::uint64_t{2147483647} * 536870911);
}

}  // namespace
}  // namespace assay::work
