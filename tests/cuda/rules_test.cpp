// What can be said of a GPU without one.
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cuda/check.h"
#include "cuda/clock_stamps.h"
#include "cuda/facts.h"
#include "cuda/lt_algorithms.h"
#include "cuda/matmul_types.h"
#include "cuda/nvml.h"

namespace assay::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using work::Layout;
using work::Type;

work::Matmul problem(Type type, std::int64_t m, std::int64_t n, std::int64_t k) {
    return {.m = m,
            .n = n,
            .k = k,
            .operand = type,
            .accumulate = work::default_accumulate(type),
            .output = work::default_output(type),
            .layout = work::default_layout(type)};
}

// What require_supported() complains of, and its advice; "" when it doesn't.
std::string complaint(const work::Matmul& p, int compute_capability = 90) {
    try {
        require_supported(p, "a GPU", compute_capability);
        return "";
    } catch (const Unsupported& error) {
        return std::string(error.what()) + " / " + error.hint();
    }
}

TEST(CudaMatmulRules, AcceptEveryTypeTheLibrariesHave) {
    for (const auto type : {Type::fp64, Type::fp32, Type::tf32, Type::fp16, Type::bf16,
                            Type::fp8_e4m3fn, Type::int8}) {
        EXPECT_EQ(complaint(problem(type, 64, 64, 64)), "") << work::name(type);
    }
    auto mixed = problem(Type::fp8_e4m3fn, 64, 64, 64);
    mixed.operand_b = Type::fp8_e5m2;
    EXPECT_EQ(complaint(mixed), "");
    mixed.operand = Type::fp8_e5m2;
    mixed.operand_b = Type::fp8_e4m3fn;
    EXPECT_EQ(complaint(mixed), "");
    auto half = problem(Type::fp16, 64, 64, 64);
    half.accumulate = Type::fp16;
    EXPECT_EQ(complaint(half), "");
}

TEST(CudaMatmulRules, NameTheDimensionThatBreaksTheAlignmentOfFp8) {
    EXPECT_THAT(complaint(problem(Type::fp8_e4m3fn, 5, 64, 40)),
                HasSubstr("K of 5x64x40 fp8_e4m3fn to bf16 nt is 40, and fp8 needs a multiple of "
                          "16 / give K = 48"));
    EXPECT_THAT(complaint(problem(Type::fp8_e4m3fn, 5, 60, 48)),
                HasSubstr("N of 5x60x48 fp8_e4m3fn to bf16 nt is 60"));
    auto rows = problem(Type::fp8_e4m3fn, 64, 64, 64);
    rows.layout = Layout::nn;
    EXPECT_THAT(complaint(rows), HasSubstr("layout nt only, not nn"));
}

TEST(CudaMatmulRules, NameTypesThatDontGoTogether) {
    EXPECT_THAT(complaint(problem(Type::fp8_e5m2, 64, 64, 64)),
                HasSubstr("no product of fp8_e5m2 with fp8_e5m2"));
    EXPECT_THAT(complaint(problem(Type::fp8_e4m3fnuz, 64, 64, 64)), HasSubstr("AMD's MI300"));
    EXPECT_THAT(complaint(problem(Type::fp8_e4m3fn, 64, 64, 64), 80),
                HasSubstr("a GPU (sm_80) has no fp8"));
    auto mixed = problem(Type::bf16, 64, 64, 64);
    mixed.operand_b = Type::fp16;
    EXPECT_THAT(complaint(mixed), HasSubstr("no product of bf16 with fp16"));
    auto narrow = problem(Type::bf16, 64, 64, 64);
    narrow.accumulate = Type::bf16;
    EXPECT_THAT(complaint(narrow), HasSubstr("bf16 accumulated in bf16"));
    EXPECT_THAT(complaint(problem(Type::int32, 64, 64, 64)), HasSubstr("int32 operands"));
    auto scaled = problem(Type::int8, 64, 64, 64);
    scaled.scale_a = 2;
    EXPECT_THAT(complaint(scaled), HasSubstr("no scaled product of int8"));
}

TEST(CudaFacts, NameBothVersionsOfADriverThatIsTooOld) {
    EXPECT_EQ(too_old("550.54.15", 12040, 13000),
              "driver 550.54.15 (CUDA 12.4) is too old: this build needs driver 580 or newer (CUDA "
              "13.0)");
}

TEST(CudaFacts, ReadTheComputeCapability) {
    record::DeviceFacts facts;
    facts.features = {"sm_90"};
    EXPECT_EQ(capability(facts), 90);
    facts.features = {"sm_100"};
    EXPECT_EQ(capability(facts), 100);
}

TEST(CudaNvml, NamesWhatHoldsTheClockDown) {
    EXPECT_THAT(reason_names(0x1), IsEmpty());  // idle
    EXPECT_THAT(reason_names(0x4 | 0x40), ElementsAre("power cap", "thermal (hardware)"));
}

TEST(CudaClockStamps, TakeTheMedianOfTheMultiprocessorsStampedTwice) {
    const std::vector<Stamp> first{{1000, 500}, {0, 0}, {7000, 500}, {9000, 500}};
    // 1,500 MHz; never stamped before; not stamped again; a counter that went back.
    const std::vector<Stamp> second{{4000, 2500}, {4000, 2500}, {7000, 500}, {100, 2500}};
    EXPECT_DOUBLE_EQ(clock_between(first.data(), second.data(), 4), 1500);
    EXPECT_TRUE(std::isnan(clock_between(first.data() + 1, second.data() + 1, 3)));
}

TEST(CudaCheck, TellsErrorsThatStayFromThoseThatPass) {
    EXPECT_TRUE(is_sticky(cudaErrorIllegalAddress));
    EXPECT_TRUE(is_sticky(cudaErrorECCUncorrectable));
    EXPECT_FALSE(is_sticky(cudaErrorInvalidValue));
    EXPECT_FALSE(is_sticky(cudaErrorMemoryAllocation));
    name_device("cuda:7 (Test)");
    try {
        check(cudaErrorIllegalAddress, "cudaTest()", "/build/backends/cuda/x.cpp", 12);
        FAIL();
    } catch (const DeviceLost& error) {
        EXPECT_THAT(error.what(), HasSubstr("cudaTest() failed"));
        EXPECT_THAT(error.what(), HasSubstr("at backends/cuda/x.cpp:12 on cuda:7 (Test)"));
    }
    EXPECT_THROW(check(cudaErrorMemoryAllocation, "", "", 0), Unsupported);
    EXPECT_THROW(check(cudaErrorInvalidValue, "", "", 0), Error);
    EXPECT_NO_THROW(check(cudaSuccess, "", "", 0));
}

TEST(CudaAlgorithms, RefuseATextThatIsNone) {
    for (const auto* text : {"", "algorithm 66", "algorithm 66 data=12", "algorithm 66 data=zz"}) {
        EXPECT_THROW((void)from_text(text), Error) << text;
    }
}

}  // namespace
}  // namespace assay::cuda
