#include <algorithm>
#include <set>

#include <gmock/gmock.h>

#include "base/error.h"
#include "cuda/lt_algorithms.h"
#include "device_under_test.h"
#include "probes/matmul_check.h"
#include "probes/matmul_operands.h"

namespace assay::cuda {
namespace {

using probes::MatmulCase;
using work::Epilogue;
using work::Layout;
using work::Type;

constexpr std::uint64_t kSeed = 9;
constexpr Layout kLayouts[] = {Layout::nn, Layout::nt, Layout::tn, Layout::tt};
constexpr Epilogue kEpilogues[] = {Epilogue::none, Epilogue::bias, Epilogue::gelu,
                                   Epilogue::bias_gelu};

struct Shape {
    std::int64_t m, n, k, batch = 1;
};
// Odd, prime, one wide in each direction, in batches.
constexpr Shape kShapes[] = {{17, 19, 23},    {61, 67, 71},   {1, 1, 1},    {1, 64, 64},
                             {64, 1, 64},     {64, 64, 1},    {3, 5, 2048}, {129, 130, 131},
                             {31, 33, 37, 3}, {64, 64, 64, 4}};
// What fp8 takes too: N and K in multiples of 16.
constexpr Shape kAligned[] = {{16, 32, 48},  {61, 48, 80},    {1, 16, 16},
                              {64, 16, 512}, {129, 144, 160}, {32, 48, 64, 3}};
constexpr Shape kLarge[] = {{2048, 2064, 2080}, {8192, 16, 4096}, {16, 8192, 4096}};

MatmulCase example(Type type, const Shape& shape, Layout layout, Epilogue epilogue) {
    MatmulCase matmul;
    matmul.problem = {.m = shape.m,
                      .n = shape.n,
                      .k = shape.k,
                      .batch = shape.batch,
                      .operand = type,
                      .accumulate = work::default_accumulate(type),
                      .output = work::default_output(type),
                      .layout = layout,
                      .epilogue = epilogue};
    matmul.cache = probes::CacheState::hot;
    return matmul;
}

std::string text(const MatmulCase& matmul) {
    return probes::to_case(matmul).text();
}

class CudaProducts : public WithGpu {
  protected:
    void run(const MatmulCase& matmul, const probes::RotatingOperands& operands,
             const ops::MatmulChoice& choice) {
        const auto prepared = device().need<ops::Matmul>().prepare(matmul.problem, choice);
        const auto stream = device().create_stream();
        prepared->enqueue(*stream, operands.set(0));
        stream->synchronize();
    }

    // Every element against double precision; what was wrong, "" when nothing was.
    std::string wrong_element(const MatmulCase& matmul, const ops::MatmulOperands& operands) {
        const auto& p = matmul.problem;
        const std::size_t width = work::size_of(p.output);
        std::vector<std::byte> c(work::c_elements(p) * width);
        device().copy_out(c.data(), operands.c, c.size());
        for (std::int64_t item = 0; item < p.batch; ++item) {
            for (std::int64_t row = 0; row < p.m; ++row) {
                for (std::int64_t column = 0; column < p.n; ++column) {
                    const auto index =
                        static_cast<std::uint64_t>((item * p.m + row) * p.n + column);
                    const double got = work::load(p.output, c.data(), index);
                    const auto right = probes::reference_element(matmul, kSeed, item, row, column);
                    if (std::abs(got - right.value) <= right.tolerance) continue;
                    return text(matmul) + ": element " + std::to_string(index) + " is " +
                           std::to_string(got) + ", not " + std::to_string(right.value) + " +- " +
                           std::to_string(right.tolerance);
                }
            }
        }
        return "";
    }

    // Runs it, whole for small ones, sampled for large. False where the library has no such
    // product.
    bool check(const MatmulCase& matmul, const ops::MatmulChoice& choice = {}) {
        const probes::RotatingOperands operands(device(), matmul, kSeed);
        try {
            run(matmul, operands, choice);
        } catch (const Unsupported&) {
            return false;
        }
        if (work::c_elements(matmul.problem) * static_cast<std::uint64_t>(matmul.problem.k) <
            3'000'000) {
            EXPECT_EQ(wrong_element(matmul, operands.set(0)), "");
        } else {
            const auto outcome =
                probes::MatmulChecker(matmul, kSeed).check(device(), operands.set(0));
            EXPECT_TRUE(outcome.passed) << text(matmul) << ": " << outcome.detail;
        }
        return true;
    }

    // Every shape, layout and epilogue of a type, through both entry points. Returns how many the
    // libraries have.
    int check_type(Type type) {
        int had = 0;
        for (const auto& shape : kShapes) had += check_shape(type, shape);
        for (const auto& shape : kAligned) had += check_shape(type, shape);
        for (const auto& shape : kLarge) had += check_shape(type, shape);
        return had;
    }
    int check_shape(Type type, const Shape& shape) {
        int had = 0;
        for (const auto layout : kLayouts) {
            for (const auto epilogue : kEpilogues) {
                const auto matmul = example(type, shape, layout, epilogue);
                had += check(matmul) ? 1 : 0;
                // cuBLAS has what cuBLASLt has, but no epilogues and no fp8.
                if (epilogue == Epilogue::none && !work::is_fp8(type)) {
                    EXPECT_TRUE(check(matmul, {"cublas", ""})) << text(matmul);
                }
            }
        }
        return had;
    }
};

constexpr int kAll =
    static_cast<int>((std::size(kShapes) + std::size(kAligned) + std::size(kLarge)) *
                     std::size(kLayouts) * std::size(kEpilogues));
constexpr int kAllPlain = kAll / static_cast<int>(std::size(kEpilogues));
// Of one layout, N and K in multiples of 16.
template <class Shapes>
int fp8_shapes(const Shapes& shapes) {
    return static_cast<int>(std::ranges::count_if(
        shapes, [](const Shape& shape) { return shape.n % 16 == 0 && shape.k % 16 == 0; }));
}

TEST_F(CudaProducts, Fp32) {
    EXPECT_EQ(check_type(Type::fp32), kAll);
}
TEST_F(CudaProducts, Tf32) {
    EXPECT_EQ(check_type(Type::tf32), kAll);
}
TEST_F(CudaProducts, Fp16) {
    EXPECT_EQ(check_type(Type::fp16), kAll);
}
TEST_F(CudaProducts, Bf16) {
    EXPECT_EQ(check_type(Type::bf16), kAll);
}
TEST_F(CudaProducts, Fp64) {
    EXPECT_GE(check_type(Type::fp64), kAllPlain);
}
TEST_F(CudaProducts, Fp8) {
    const int shapes = fp8_shapes(kShapes) + fp8_shapes(kAligned) + fp8_shapes(kLarge);
    EXPECT_EQ(check_type(Type::fp8_e4m3fn), shapes * static_cast<int>(std::size(kEpilogues)));
}

TEST_F(CudaProducts, Int8) {
    for (const auto epilogue : {Epilogue::bias, Epilogue::gelu, Epilogue::bias_gelu}) {
        EXPECT_FALSE(check(example(Type::int8, {64, 64, 64}, Layout::nt, epilogue)))
            << "then test it for all";
    }
    int had = 0;
    for (const auto& shape : kAligned) {
        had += check(example(Type::int8, shape, Layout::nt, Epilogue::none)) ? 1 : 0;
    }
    EXPECT_EQ(had, static_cast<int>(std::size(kAligned)));
}

TEST_F(CudaProducts, Fp8OfTwoFormatsScaledFastAndExact) {
    for (const auto& [a, b] :
         {std::pair{Type::fp8_e4m3fn, Type::fp8_e5m2}, std::pair{Type::fp8_e5m2, Type::fp8_e4m3fn},
          std::pair{Type::fp8_e4m3fn, Type::fp8_e4m3fn}}) {
        for (const auto accumulation : {work::Accumulation::exact, work::Accumulation::fast}) {
            for (const auto output : {Type::bf16, Type::fp16, Type::fp32}) {
                for (const auto& shape : {Shape{61, 48, 80}, Shape{2048, 2064, 4096}}) {
                    auto matmul = example(a, shape, Layout::nt, Epilogue::none);
                    matmul.problem.operand_b = b;
                    matmul.problem.output = output;
                    matmul.problem.accumulation = accumulation;
                    matmul.problem.scale_a = 0.5F;
                    matmul.problem.scale_b = 0.375F;
                    EXPECT_TRUE(check(matmul)) << text(matmul);
                }
            }
        }
    }
}

TEST_F(CudaProducts, OtherOutputsAndAccumulators) {
    for (const auto type : {Type::bf16, Type::fp16}) {
        auto wide = example(type, {61, 67, 71}, Layout::nn, Epilogue::none);
        wide.problem.output = Type::fp32;
        EXPECT_TRUE(check(wide));
    }
    auto half = example(Type::fp16, {61, 67, 71}, Layout::nn, Epilogue::none);
    half.problem.accumulate = Type::fp16;
    EXPECT_TRUE(check(half));
    auto scaled = example(Type::bf16, {61, 67, 71}, Layout::nn, Epilogue::none);
    scaled.problem.scale_a = 0.25F;
    scaled.problem.scale_b = 3;
    EXPECT_TRUE(check(scaled));
}

TEST_F(CudaProducts, EveryDistributionOfOperands) {
    for (const auto inputs :
         {work::Distribution::normal, work::Distribution::uniform, work::Distribution::zeros,
          work::Distribution::ones, work::Distribution::ints}) {
        auto matmul = example(Type::bf16, {256, 256, 256}, Layout::nt, Epilogue::bias);
        matmul.inputs = inputs;
        EXPECT_TRUE(check(matmul));
    }
}

// The checks above must be able to fail.
TEST_F(CudaProducts, PlantedErrorsAreFound) {
    const auto right = example(Type::bf16, {64, 64, 64}, Layout::nn, Epilogue::bias);
    const probes::RotatingOperands operands(device(), right, kSeed);
    const auto outcome = [&] { return wrong_element(right, operands.set(0)); };
    const auto with = [&](auto change) {
        auto other = right;
        change(other.problem);
        run(other, operands, {});
        return outcome();
    };
    EXPECT_EQ(with([](work::Matmul&) {}), "");
    EXPECT_NE(with([](work::Matmul& p) { p.layout = Layout::nt; }), "");
    EXPECT_NE(with([](work::Matmul& p) { p.layout = Layout::tn; }), "");
    EXPECT_NE(with([](work::Matmul& p) { p.epilogue = Epilogue::bias_gelu; }), "");
    EXPECT_NE(with([](work::Matmul& p) { p.k = 63; }), "");
    EXPECT_NE(with([](work::Matmul& p) { p.scale_a = 1.01F; }), "");
    EXPECT_EQ(with([](work::Matmul&) {}), "");
    // One element of the last row, by 2 %.
    auto* c = static_cast<std::uint16_t*>(operands.set(0).c);
    std::uint16_t element = 0;
    device().copy_out(&element, c + 64 * 64 - 2, sizeof element);
    element ^= 4;
    device().copy_in(c + 64 * 64 - 2, &element, sizeof element);
    EXPECT_NE(outcome(), "");
}

// Each algorithm that a search would try gives the right answer, and means the same again.
TEST_F(CudaProducts, EveryAlgorithmFoundIsRight) {
    auto& op = device().need<ops::Matmul>();
    for (const auto& [type, layout] :
         {std::pair{Type::bf16, Layout::nn}, std::pair{Type::fp8_e4m3fn, Layout::nt}}) {
        const auto matmul = example(type, {2048, 1536, 1024}, layout, Epilogue::none);
        const auto algorithms = op.algorithms(matmul.problem, 32);
        EXPECT_EQ(std::set(algorithms.begin(), algorithms.end()).size(), algorithms.size());
        EXPECT_GT(algorithms.size(), 8U);
        EXPECT_LE(algorithms.size(), 32U + 200U);
        for (const auto& algorithm : algorithms) {
            EXPECT_EQ(to_text(from_text(algorithm)), algorithm);
            EXPECT_TRUE(check(matmul, {"", algorithm})) << algorithm;
        }
    }
}

TEST_F(CudaProducts, SayWhichPathRan) {
    auto& op = device().need<ops::Matmul>();
    const auto fast =
        op.prepare(example(Type::bf16, {4096, 4096, 4096}, Layout::nn, Epilogue::none).problem);
    EXPECT_EQ(fast->implementation().path, record::Path::fast);
    EXPECT_EQ(fast->implementation().library, "cuBLASLt");
    if (device().facts().features.front() == "sm_90") {
        // Hopper's own kernels want rows in multiples of 16 bytes.
        const auto odd =
            op.prepare(example(Type::bf16, {4097, 4099, 4101}, Layout::nn, Epilogue::none).problem);
        EXPECT_EQ(odd->implementation().path, record::Path::fallback);
        EXPECT_NE(odd->implementation().note, "");
    }
    EXPECT_THROW(
        (void)op.prepare(example(Type::bf16, {16, 16, 16}, Layout::nn, Epilogue::none).problem,
                         {"other", ""}),
        Unsupported);
}

}  // namespace
}  // namespace assay::cuda
