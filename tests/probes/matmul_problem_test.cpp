#include "probes/matmul_problem.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::probes {
namespace {

MatmulCase plain() {
    MatmulCase matmul;
    matmul.problem = {.m = 3, .n = 5, .k = 7};
    return matmul;
}

MatmulCase unusual() {
    MatmulCase matmul;
    matmul.problem = {.m = 2147483647,
                      .n = 1,
                      .k = 2,
                      .batch = 9,
                      .operand = work::Type::bf16,
                      .accumulate = work::Type::bf16,
                      .output = work::Type::fp32,
                      .layout = work::Layout::tn,
                      .epilogue = work::Epilogue::bias_gelu,
                      .operand_b = work::Type::fp8_e5m2,
                      .scale_a = 0.1F,
                      .scale_b = 3e10F};
    matmul.inputs = work::Distribution::ints;
    matmul.cache = CacheState::hot;
    matmul.algorithm = Algorithm::tuned;
    matmul.layer = "attention out";
    return matmul;
}

TEST(MatmulProblem, LeavesDefaultsOutOfTheText) {
    EXPECT_EQ(to_case(plain()).text(), "m=3 n=5 k=7 dtype=fp32");
    EXPECT_EQ(to_case(unusual()).text(),
              "m=2147483647 n=1 k=2 dtype=bf16 accumulate=bf16 output=fp32 "
              "dtype_b=fp8_e5m2 scale_a=0.1 scale_b=30000000000 layout=tn "
              "epilogue=bias+gelu batch=9 inputs=ints cache=hot algorithm=tuned");
}

TEST(MatmulProblem, TakesTheTypesOwnAccumulatorAndOutputAsDefaults) {
    auto matmul = plain();
    matmul.problem.operand = work::Type::int8;
    matmul.problem.accumulate = matmul.problem.output = work::Type::int32;
    EXPECT_EQ(to_case(matmul).text(), "m=3 n=5 k=7 dtype=int8");
    matmul.problem.operand = work::Type::bf16;
    matmul.problem.accumulate = work::Type::fp32;
    matmul.problem.output = work::Type::bf16;
    EXPECT_EQ(to_case(matmul).text(), "m=3 n=5 k=7 dtype=bf16");
}

TEST(MatmulProblem, TakesTheTypesOwnLayoutAsDefault) {
    auto matmul = plain();
    matmul.problem.operand = work::Type::fp8_e4m3fn;
    matmul.problem.output = work::Type::bf16;
    EXPECT_EQ(to_case(matmul).text(), "m=3 n=5 k=7 dtype=fp8_e4m3fn layout=nn");
    matmul.problem.layout = work::Layout::nt;
    EXPECT_EQ(to_case(matmul).text(), "m=3 n=5 k=7 dtype=fp8_e4m3fn");
    matmul.problem.accumulation = work::Accumulation::fast;
    EXPECT_EQ(to_case(matmul).text(), "m=3 n=5 k=7 dtype=fp8_e4m3fn accumulation=fast");
    EXPECT_EQ(matmul_from_case(to_case(matmul)).problem, matmul.problem);
}

TEST(MatmulProblem, ALayersNameChangesNoIdentity) {
    auto matmul = plain();
    matmul.layer = "qkv";
    EXPECT_EQ(to_case(matmul).text(), to_case(plain()).text());
    EXPECT_EQ(to_case(matmul).at("layer"), "qkv");
}

TEST(MatmulProblem, ComesBackFromItsCase) {
    for (const auto& matmul : {plain(), unusual()}) {
        const auto back = matmul_from_case(to_case(matmul));
        EXPECT_EQ(back.problem, matmul.problem);
        EXPECT_EQ(back.inputs, matmul.inputs);
        EXPECT_EQ(back.cache, matmul.cache);
        EXPECT_EQ(back.algorithm, matmul.algorithm);
        EXPECT_EQ(back.layer, matmul.layer);
    }
}

TEST(MatmulProblem, RefusesACaseWithAMissingOrMalformedPair) {
    const auto whole = to_case(plain());
    for (const auto& pair : whole.pairs()) {
        record::Case without;
        for (const auto& other : whole.pairs()) {
            if (other.name != pair.name) without.set(other.name, other.value);
        }
        EXPECT_THROW(matmul_from_case(without), Error) << pair.name;
        EXPECT_THROW(matmul_from_case(to_case(plain()).set(pair.name, "?")), Error) << pair.name;
    }
}

TEST(MatmulProblem, ParsesCacheStates) {
    EXPECT_EQ(parse_cache_state("cold"), CacheState::cold);
    EXPECT_EQ(parse_cache_state("hot"), CacheState::hot);
    EXPECT_THROW(parse_cache_state("warm"), UsageError);
    EXPECT_THROW(parse_cache_state(""), UsageError);
}

}  // namespace
}  // namespace assay::probes
