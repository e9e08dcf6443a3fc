#include "cpu/memory_kernels.h"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::cpu {
namespace {

std::vector<const MemoryKernels*> runnable() {
    std::vector<const MemoryKernels*> all{&kBaselineKernels};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") != 0) all.push_back(&kAvx2Kernels);
    if (__builtin_cpu_supports("avx512f") != 0) all.push_back(&kAvx512Kernels);
#endif
    return all;
}

// Aligned, with a guard value behind the end.
class Array {
  public:
    explicit Array(std::size_t n, float seed = 0)
        : n_(n), data_(static_cast<float*>(std::aligned_alloc(64, (n * 4 / 64 + 2) * 64))) {
        for (std::size_t i = 0; i < n; ++i) data_.get()[i] = std::sin(seed + static_cast<float>(i));
        data_.get()[n] = kGuard;
    }
    float* get() { return data_.get(); }
    float operator[](std::size_t i) const { return data_.get()[i]; }
    bool guarded() const { return data_.get()[n_] == kGuard; }

  private:
    static constexpr float kGuard = 12345;
    struct Free {
        void operator()(float* p) const { std::free(p); }
    };
    std::size_t n_;
    std::unique_ptr<float, Free> data_;
};

// Around the lengths of vectors, turns and blocks.
constexpr std::size_t kLengths[] = {0,   1,   3,   15,   16,   17,   63,   64,   65,
                                    127, 128, 129, 1000, 4095, 4096, 4097, 10007};

class Kernels : public testing::TestWithParam<const MemoryKernels*> {};

TEST_P(Kernels, GiveTheScalarResultBitForBitWithAnyTail) {
    const MemoryKernels& kernels = *GetParam();
    for (const std::size_t n : kLengths) {
        Array a(n, 1);
        Array b(n, 2);
        for (const bool past_caches : {false, true}) {
            const auto expect = [&](const char* op, const auto& run, const auto& scalar) {
                Array c(n, 3);
                run(c.get());
                std::size_t right = 0;
                while (right < n && c[right] == scalar(right)) ++right;
                EXPECT_EQ(right, n) << op << ": the element there is wrong";
                EXPECT_TRUE(c.guarded()) << op;
            };
            expect(
                "copy", [&](float* c) { kernels.copy(a.get(), c, n, past_caches); },
                [&](std::size_t i) { return a[i]; });
            expect(
                "write", [&](float* c) { kernels.write(2.5F, c, n, past_caches); },
                [](std::size_t) { return 2.5F; });
            expect(
                "scale", [&](float* c) { kernels.scale(3, a.get(), c, n, past_caches); },
                [&](std::size_t i) { return 3 * a[i]; });
            expect(
                "add", [&](float* c) { kernels.add(a.get(), b.get(), c, n, past_caches); },
                [&](std::size_t i) { return a[i] + b[i]; });
            expect(
                "triad", [&](float* c) { kernels.triad(3, a.get(), b.get(), c, n, past_caches); },
                [&](std::size_t i) { return a[i] + 3 * b[i]; });
        }
    }
}

TEST_P(Kernels, ReadSumsEveryElement) {
    const MemoryKernels& kernels = *GetParam();
    for (const std::size_t n : kLengths) {
        Array a(n);
        for (std::size_t i = 0; i < n; ++i) a.get()[i] = static_cast<float>(i % 7);
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(i % 7);
        EXPECT_EQ(kernels.read(a.get(), n), sum) << n << ": small integers add up exactly";
    }
}

TEST_P(Kernels, ReadKeepsPrecisionOverLongArrays) {
    const std::size_t n = 3'000'001;
    Array a(n);
    for (std::size_t i = 0; i < n; ++i) a.get()[i] = 0.1F;
    const double sum = static_cast<double>(0.1F) * static_cast<double>(n);
    EXPECT_NEAR(GetParam()->read(a.get(), n), sum, 1e-5 * sum);
}

INSTANTIATE_TEST_SUITE_P(OfEachInstructionSet, Kernels, testing::ValuesIn(runnable()),
                         [](const auto& kernels) { return std::string(kernels.param->name); });

TEST(MemoryKernelChoice, FollowsTheEnvironment) {
    EXPECT_EQ(&memory_kernels(), &best_memory_kernels());
    setenv("ASSAY_CPU_ISA", "baseline", 1);
    EXPECT_EQ(memory_kernels().name, "baseline");
    setenv("ASSAY_CPU_ISA", "avx1024", 1);
    EXPECT_THROW(memory_kernels(), UsageError);
    unsetenv("ASSAY_CPU_ISA");
}

}  // namespace
}  // namespace assay::cpu
