#include "work/matmul.h"

#include <limits>

#include <fmt/format.h>
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

TEST(Matmul, BHasTheTypeOfAUnlessItSaysOtherwise) {
    Matmul problem = shaped(2, 3, 5);
    problem.operand = Type::fp8_e5m2;
    EXPECT_EQ(type_b(problem), Type::fp8_e5m2);
    problem.operand_b = Type::fp8_e4m3fn;
    EXPECT_EQ(type_b(problem), Type::fp8_e4m3fn);
    problem.operand_b = Type::fp64;  // not that any device does this
    problem.output = Type::bf16;
    EXPECT_EQ(bytes(problem), 10U + 15 * 8 + 12);
}

TEST(Matmul, TheDefaultLayoutIsOneThatEveryDeviceTakes) {
    for (const auto* type : {"fp64", "fp32", "tf32", "fp16", "bf16", "int8", "int32"}) {
        EXPECT_EQ(default_layout(parse_type(type)), Layout::nn) << type;
    }
    for (const auto* type : {"fp8_e4m3fn", "fp8_e4m3fnuz", "fp8_e5m2"}) {
        EXPECT_EQ(default_layout(parse_type(type)), Layout::nt) << type;
    }
}

TEST(Matmul, OnlyFp8AccumulatesFast) {
    for (const auto accumulation : {Accumulation::exact, Accumulation::fast}) {
        EXPECT_EQ(parse_accumulation(name(accumulation)), accumulation);
    }
    expect_error<UsageError>([] { parse_accumulation("quick"); }, R"(unknown accumulation "quick")",
                             "fast");
    Matmul problem = shaped(2, 3, 5);
    problem.accumulation = Accumulation::fast;
    expect_error<UsageError>([&] { validate(problem); },
                             "fast accumulation of fp32 x fp32: only fp8 has it", "fp8");
    problem.operand = Type::fp8_e4m3fn;
    EXPECT_NO_THROW(validate(problem));
    problem.operand_b = Type::bf16;
    expect_error<UsageError>([&] { validate(problem); },
                             "fast accumulation of fp8_e4m3fn x bf16: only fp8 has it", "fp8");
}

TEST(Matmul, ScalesArePositiveNumbersOfFloatingPointOperands) {
    Matmul problem = shaped(2, 3, 5);
    problem.scale_b = 0.25F;
    EXPECT_NO_THROW(validate(problem));
    for (const float bad : {0.0F, -1.0F, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
        problem.scale_a = bad;
        expect_error<UsageError>([&] { validate(problem); },
                                 fmt::format("a scale of {} isn't a positive number", bad),
                                 "0.5,2");
    }
    problem.scale_a = 1;
    problem.operand = Type::int8;
    expect_error<UsageError>([&] { validate(problem); }, "a scale of 0.25 for integers",
                             "floating-point");
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
