#include "cpu/attention_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "work/fill.h"

namespace assay::cpu {
namespace {

using work::Type;

// Aligned floats: normal numbers.
class Array {
  public:
    explicit Array(std::size_t n, std::uint32_t stream = 0)
        : data_(static_cast<float*>(std::aligned_alloc(64, (n * 4 + 63) / 64 * 64))) {
        work::fill({.seed = 5, .stream = stream}, Type::fp32, 0, n, data_.get());
    }
    float* get() { return data_.get(); }
    float& operator[](std::size_t i) { return data_.get()[i]; }

  private:
    struct Free {
        void operator()(float* p) const { std::free(p); }
    };
    std::unique_ptr<float, Free> data_;
};

class AttentionLoops : public testing::TestWithParam<const AttentionKernels*> {};

TEST_P(AttentionLoops, PowersArePreciseToTheLastPlaces) {
    for (const float largest : {0.0F, 3.25F}) {
        for (int step = 0; step < 60; ++step) {
            Array s(2 * kQueryTile);
            Array max(kQueryTile), sum(kQueryTile), shrink(kQueryTile);
            std::vector<double> want(kQueryTile);
            for (std::size_t i = 0; i < kQueryTile; ++i) {
                const float x = -static_cast<float>(step) * 2.2F - static_cast<float>(i) / 29;
                s[i] = largest;
                s[kQueryTile + i] = largest + x;
                const double power = static_cast<double>(s[kQueryTile + i] - largest);
                want[i] = power < -126 ? 0 : std::exp2(power);
                max[i] = -std::numeric_limits<float>::infinity();
                sum[i] = 0;
            }
            GetParam()->softmax({.s = s.get(), .keys = 2, .queries = kQueryTile},
                                {max.get(), sum.get(), shrink.get()});
            for (std::size_t i = 0; i < kQueryTile; ++i) {
                EXPECT_EQ(s[i], 1);
                EXPECT_EQ(max[i], largest);
                EXPECT_EQ(shrink[i], 0);
                EXPECT_NEAR(s[kQueryTile + i], want[i], 1.5e-7 * want[i]);
                EXPECT_NEAR(sum[i], 1 + want[i], 3e-7);
            }
        }
    }
}

TEST_P(AttentionLoops, ElementsAreReadAndWrittenAsTheFormatsSay) {
    for (const Type type : {Type::bf16, Type::fp16}) {
        std::vector<std::uint16_t> codes(1 << 16), back(1 << 16);
        for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(i);
        Array wide(codes.size());
        const Rows rows{
            .data = codes.data(), .type = type, .stride = 256, .rows = 256, .width = 256};
        EXPECT_FALSE(GetParam()->rows(rows, wide.get(), 256)) << "infinity is among them";
        // Numbers between neighbours too: ties, and those that round up to infinity.
        Array between(codes.size());
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const double value = work::load(type, codes.data(), i);
            if (std::isnan(value)) {
                EXPECT_TRUE(std::isnan(wide[i]));
            } else {
                EXPECT_EQ(wide[i], value) << i;
            }
            between[i] = i % 3 == 0 ? wide[i] : wide[i] * (i % 3 == 1 ? 1.001953125F : 1.00048828F);
        }
        GetParam()->narrow(between.get(), 1, 1 << 16, type, back.data());
        for (std::size_t i = 0; i < codes.size(); ++i) {
            std::uint16_t want = 0;
            work::store(type, static_cast<double>(between[i]), &want);
            if (std::isnan(between[i])) {
                EXPECT_TRUE(std::isnan(work::load(type, back.data(), i))) << i;
            } else {
                EXPECT_EQ(back[i], want) << i;
            }
        }
    }
}

TEST_P(AttentionLoops, RowsArePutWhereTheirLayoutsSay) {
    const int panel = GetParam()->panel;
    for (const int width : {1, 4, 15, 17, 33, 70}) {
        Array from(9 * 80), to(128 * 128, 1);
        Rows rows{.data = from.get(), .stride = 80, .rows = 9, .width = width};
        EXPECT_TRUE(GetParam()->panels(rows, to.get(), 20 * panel));
        const auto at = [](int i) { return static_cast<std::size_t>(i); };
        for (int r = 0; r < 9; ++r) {
            for (int c = 0; c < width; ++c) {
                EXPECT_EQ(to[at(c / panel * 20 * panel + r * panel + c % panel)],
                          from[at(r * 80 + c)]);
            }
        }
        EXPECT_TRUE(GetParam()->turned(rows, 2, 5, 8, to.get(), 8 * 80));
        for (int r = 0; r < 9; ++r) {
            for (int c = 0; c < width; ++c) {
                EXPECT_EQ(to[at((5 + r) / 8 * 8 * 80 + c * 8 + (5 + r) % 8)],
                          2 * from[at(r * 80 + c)]);
            }
        }
        from[at(8 * 80 + width - 1)] = -std::numeric_limits<float>::infinity();
        EXPECT_FALSE(GetParam()->panels(rows, to.get(), 20 * panel));
        rows.width = width - 1;
        EXPECT_TRUE(GetParam()->panels(rows, to.get(), 20 * panel)) << "that one isn't read";
    }
}

// In parts by `extend` and `add`, a product has the bits of the whole.
TEST_P(AttentionLoops, ProductsOfAnySizeAddUp) {
    const int panel = GetParam()->panel;
    constexpr int kStride = 80, kDepth = 21;
    for (const int m : {1, 5, 8, 19}) {
        for (const int n : {1, 3, 9, 17, 33, 71}) {
            for (const bool turned : {false, true}) {
                Array a(80 * 80), b(80 * 96, 1), c(20 * 96, 2), parts(96), other(20 * 96, 2),
                    factor(20, 3);
                Product p{.m = m,
                          .n = n,
                          .k = kDepth,
                          .a = a.get(),
                          .a_stride = kStride,
                          .a_turned = turned,
                          .b = b.get(),
                          .panel_stride = kDepth * panel,
                          .c = c.get(),
                          .c_stride = 96,
                          .into = Into::add,
                          .factor = factor.get()};
                GetParam()->product(p);
                for (int i = 0; i < m; ++i) {
                    // The row by itself, its terms in two parts.
                    std::fill_n(parts.get(), 96, 0.0F);
                    Product part = p;
                    part.m = 1;
                    part.c = parts.get();
                    part.into = Into::extend;
                    part.k = 8;
                    part.a = a.get() + (turned ? i : i * kStride);
                    GetParam()->product(part);
                    part.k = kDepth - 8;
                    part.a += turned ? 8 * kStride : 8;
                    part.b += 8 * panel;
                    GetParam()->product(part);
                    float* row = other.get() + i * 96;
                    GetParam()->add(row, factor[static_cast<std::size_t>(i)], parts.get(), n);
                    for (int j = 0; j < n; ++j) {
                        EXPECT_EQ(c[static_cast<std::size_t>(i * 96 + j)], row[j]);
                        double sum = 0;
                        for (int l = 0; l < kDepth; ++l) {
                            const int at = turned ? l * kStride + i : i * kStride + l;
                            const int bt = j / panel * kDepth * panel + l * panel + j % panel;
                            sum += static_cast<double>(a[static_cast<std::size_t>(at)]) *
                                   static_cast<double>(b[static_cast<std::size_t>(bt)]);
                        }
                        EXPECT_NEAR(parts[static_cast<std::size_t>(j)], sum, 2e-5);
                    }
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OfEachInstructionSet, AttentionLoops,
                         testing::ValuesIn(runnable_attention_kernels()),
                         [](const auto& kernels) { return std::string(kernels.param->name); });

TEST(AttentionKernelChoice, FollowsTheEnvironment) {
    EXPECT_EQ(&attention_kernels(), runnable_attention_kernels().front());
    setenv("ASSAY_CPU_ISA", "baseline", 1);
    EXPECT_EQ(attention_kernels().name, "baseline");
    setenv("ASSAY_CPU_ISA", "avx1024", 1);
    EXPECT_THROW(attention_kernels(), UsageError);
    unsetenv("ASSAY_CPU_ISA");
}

}  // namespace
}  // namespace assay::cpu
