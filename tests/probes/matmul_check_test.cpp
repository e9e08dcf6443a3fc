#include "probes/matmul_check.h"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "probes/fake_bench.h"
#include "probes/matmul_operands.h"

namespace assay::probes {
namespace {

using work::Epilogue;
using work::Layout;
using work::Type;

constexpr std::uint64_t kSeed = 11;
constexpr Layout kLayouts[]{Layout::nn, Layout::nt, Layout::tn, Layout::tt};
constexpr Epilogue kEpilogues[]{Epilogue::none, Epilogue::bias, Epilogue::gelu,
                                Epilogue::bias_gelu};

MatmulCase product(std::int64_t m, std::int64_t n, std::int64_t k, Type type = Type::fp32) {
    MatmulCase matmul;
    matmul.problem = {.m = m,
                      .n = n,
                      .k = k,
                      .operand = type,
                      .accumulate = work::default_accumulate(type),
                      .output = work::default_output(type)};
    matmul.cache = CacheState::hot;
    return matmul;
}

// A product computed by the fake device, whose elements a test then changes.
class Computed {
  public:
    explicit Computed(const MatmulCase& matmul) : Computed(matmul, matmul.problem) {}
    // What is computed isn't what was asked for.
    Computed(const MatmulCase& asked, const work::Matmul& done) : asked_(asked) {
        const auto prepared = device_.need<ops::Matmul>().prepare(done);
        const auto stream = device_.create_stream();
        prepared->enqueue(*stream, operands_.set(0));
        stream->synchronize();
    }

    double operand_a(std::int64_t index) const {
        return work::load(asked_.problem.operand, operands_.set(0).a,
                          static_cast<std::uint64_t>(index));
    }
    double operand_b(std::int64_t index) const {
        return work::load(work::type_b(asked_.problem), operands_.set(0).b,
                          static_cast<std::uint64_t>(index));
    }
    double at(std::int64_t index) {
        return work::load(asked_.problem.output, operands_.set(0).c,
                          static_cast<std::uint64_t>(index));
    }
    void put(std::int64_t index, double value) {
        const auto type = asked_.problem.output;
        const auto offset = index * static_cast<std::int64_t>(work::size_of(type));
        work::store(type, value, static_cast<std::byte*>(operands_.set(0).c) + offset);
    }
    record::Check check() { return check_matmul(device_, asked_, operands_.set(0), kSeed); }
    ops::MatmulOperands operands() const { return operands_.set(0); }

  private:
    MatmulCase asked_;
    device::FakeDevice device_;
    RotatingOperands operands_{device_, asked_, kSeed};
};

TEST(MatmulCheck, PassesRightProductsOfEveryTypeLayoutEpilogueAndBatch) {
    for (const auto type : work::parse_types("fp64,fp32,tf32,fp16,bf16,fp8_e4m3fn,fp8_e4m3fnuz,"
                                             "fp8_e5m2,int8")) {
        for (const auto layout : kLayouts) {
            for (const auto epilogue : kEpilogues) {
                for (const std::int64_t batch : {1, 3}) {
                    auto matmul = product(7, 13, 29, type);
                    matmul.problem.layout = layout;
                    matmul.problem.epilogue = epilogue;
                    matmul.problem.batch = batch;
                    const auto check = Computed(matmul).check();
                    EXPECT_TRUE(check.passed) << to_case(matmul).text() << ": " << check.detail;
                }
            }
        }
    }
}

TEST(MatmulCheck, PassesRightProductsOfMixedTypesAndScales) {
    auto matmul = product(7, 13, 29, Type::fp8_e4m3fn);
    for (const auto type : {Type::fp8_e5m2, Type::bf16}) {
        for (const float scale : {1.0F, 0.02F, 30.0F}) {
            for (const auto epilogue : kEpilogues) {
                matmul.problem.operand_b = type;
                matmul.problem.scale_a = scale;
                matmul.problem.scale_b = 0.5F;
                matmul.problem.epilogue = epilogue;
                const auto check = Computed(matmul).check();
                EXPECT_TRUE(check.passed) << to_case(matmul).text() << ": " << check.detail;
            }
        }
    }
}

TEST(MatmulCheck, PassesRightProductsOfEveryDistributionAndThinShape) {
    for (const auto* inputs : {"normal", "uniform", "zeros", "ones", "ints"}) {
        for (const auto& [m, n, k] : {std::array{1, 1, 1}, {1, 65, 3}, {65, 1, 3}, {2, 3, 1001}}) {
            auto matmul = product(m, n, k);
            matmul.inputs = work::parse_distribution(inputs);
            const auto check = Computed(matmul).check();
            EXPECT_TRUE(check.passed) << to_case(matmul).text() << ": " << check.detail;
        }
    }
}

TEST(MatmulCheck, PassesWhatAnOutputTypeCannotHoldWhereItIsSaturatedOrInfinite) {
    auto matmul = product(5, 6, 66000, Type::fp16);  // fp16 ends at 65504
    matmul.inputs = work::Distribution::ones;
    EXPECT_TRUE(Computed(matmul).check().passed);
    matmul = product(5, 6, 500, Type::fp8_e4m3fn);  // and this one at 448
    matmul.inputs = work::Distribution::ones;
    matmul.problem.output = Type::fp8_e4m3fn;
    EXPECT_TRUE(Computed(matmul).check().passed);
    matmul = product(5, 6, 100, Type::int8);
    matmul.problem.output = Type::int8;
    EXPECT_TRUE(Computed(matmul).check().passed);
}

// The kinds of sums that differ in what they are allowed.
std::vector<MatmulCase> every_kind(std::int64_t m, std::int64_t n, std::int64_t k) {
    std::vector<MatmulCase> kinds;
    for (const auto type : work::parse_types("fp64,fp32,tf32,fp16,bf16,fp8_e4m3fn,int8")) {
        kinds.push_back(product(m, n, k, type));
    }
    kinds.push_back(product(m, n, k, Type::fp8_e4m3fn));
    kinds.back().problem.accumulation = work::Accumulation::fast;
    kinds.push_back(product(m, n, k, Type::fp8_e5m2));
    kinds.back().problem.operand_b = Type::fp8_e4m3fn;
    kinds.back().problem.scale_a = 0.125F;
    kinds.push_back(product(m, n, k, Type::fp16));
    kinds.back().problem.accumulate = Type::fp16;
    return kinds;
}

// Of the elements that are always looked at, the one whose relative error shows most.
std::int64_t largest_corner(Computed& computed, const work::Matmul& p) {
    std::int64_t largest = 0;
    for (const std::int64_t corner : {p.n - 1, (p.m - 1) * p.n, p.batch * p.m * p.n - 1}) {
        if (std::abs(computed.at(corner)) > std::abs(computed.at(largest))) largest = corner;
    }
    return largest;
}

TEST(MatmulCheck, FindsPlantedErrors) {
    struct Plant {
        const char* what;
        std::function<void(Computed&, const work::Matmul&)> error;
    };
    const Plant plants[]{
        {"one element off by 1 %",
         [](Computed& computed, const work::Matmul& p) {
             const auto at = largest_corner(computed, p);
             // An error of 1 % may hide in bf16, whose neighbours lie up to 0.8 % apart, and in
             // sums kept in 14 bits or fewer.
             const bool coarse = p.output == Type::bf16 || work::is_fp8(p.operand);
             const bool fast = p.accumulation == work::Accumulation::fast;
             const double error = p.accumulate == Type::fp16 ? 0.1
                                  : fast                     ? 0.05
                                  : coarse                   ? 0.02
                                                             : 0.01;
             computed.put(at, computed.at(at) * (1 + error));
         }},
        {"a wrong last column",
         [](Computed& computed, const work::Matmul& p) {
             for (auto i = p.n - 1; i < p.batch * p.m * p.n; i += p.n) computed.put(i, 0);
         }},
        {"a wrong last row of the last product",
         [](Computed& computed, const work::Matmul& p) {
             for (std::int64_t i = 1; i <= p.n; ++i) computed.put(p.batch * p.m * p.n - i, 0);
         }},
        {"every product but the first a copy of it",
         [](Computed& computed, const work::Matmul& p) {
             for (auto i = p.m * p.n; i < p.batch * p.m * p.n; ++i) {
                 computed.put(i, computed.at(i % (p.m * p.n)));
             }
         }},
        {"one row of tiles not written",
         [](Computed& computed, const work::Matmul& p) {
             for (auto i = 4 * p.n; i < 8 * p.n; ++i) computed.put(i, 0);
         }},
        {"not a number",  // an integer can't hold one: it becomes 0
         [](Computed& computed, const work::Matmul& p) {
             computed.put(p.n - 1, std::numeric_limits<double>::quiet_NaN());
         }},
        {"infinite",
         [](Computed& computed, const work::Matmul&) {
             computed.put(0, std::numeric_limits<double>::infinity());
         }},
    };
    for (auto matmul : every_kind(13, 29, 67)) {
        for (const auto layout : kLayouts) {
            for (const auto epilogue : {Epilogue::none, Epilogue::bias}) {
                matmul.problem.batch = 3;
                matmul.problem.layout = layout;
                matmul.problem.epilogue = epilogue;
                for (const auto& plant : plants) {
                    Computed computed(matmul);
                    plant.error(computed, matmul.problem);
                    EXPECT_FALSE(computed.check().passed)
                        << plant.what << " in " << to_case(matmul).text();
                }
            }
        }
    }
}

TEST(MatmulCheck, FindsAProductOtherThanTheOneAskedFor) {
    struct Other {
        const char* what;
        Layout layout = Layout::nn;
        Epilogue epilogue = Epilogue::none;
        std::function<void(work::Matmul&)> change;
    };
    const Other others[]{
        {"A transposed", Layout::nn, Epilogue::none, [](auto& p) { p.layout = Layout::tn; }},
        {"A not transposed", Layout::tt, Epilogue::none, [](auto& p) { p.layout = Layout::nt; }},
        {"B transposed", Layout::nn, Epilogue::none, [](auto& p) { p.layout = Layout::nt; }},
        {"B not transposed", Layout::tt, Epilogue::none, [](auto& p) { p.layout = Layout::tn; }},
        {"no bias", Layout::nt, Epilogue::bias, [](auto& p) { p.epilogue = Epilogue::none; }},
        {"no bias before GELU", Layout::nt, Epilogue::bias_gelu,
         [](auto& p) { p.epilogue = Epilogue::gelu; }},
        {"no GELU", Layout::nn, Epilogue::gelu, [](auto& p) { p.epilogue = Epilogue::none; }},
        {"the last of K left out", Layout::tn, Epilogue::none, [](auto& p) { --p.k; }},
        {"another scale", Layout::nn, Epilogue::none, [](auto& p) { p.scale_b *= 1.25F; }},
    };
    for (auto matmul : every_kind(13, 29, 31)) {
        for (const auto& other : others) {
            matmul.problem.layout = other.layout;
            matmul.problem.epilogue = other.epilogue;
            auto done = matmul.problem;
            other.change(done);
            EXPECT_FALSE(Computed(matmul, done).check().passed)
                << other.what << " in " << to_case(matmul).text();
        }
    }
}

TEST(MatmulCheck, NamesTheWrongElement) {
    Computed computed(product(4, 5, 6));
    computed.put(4, 1000);
    const auto check = computed.check();
    EXPECT_EQ(check.name, "answer");
    EXPECT_NE(check.detail.find("element (0, 4) of product 0 is 1000, expected"), std::string::npos)
        << check.detail;
}

// What rounding each of K steps to fp32 is expected to do to the element in the first row and
// column.
struct Rounding {
    double value = 0;
    double expected = 0;

    Rounding(const Computed& computed, const work::Matmul& p) {
        double squares = 0;
        for (std::uint64_t l = 0; l < static_cast<std::uint64_t>(p.k); ++l) {
            const double one =
                work::load(p.operand, computed.operands().a, l) *
                work::load(p.operand, computed.operands().b, l * static_cast<std::uint64_t>(p.n));
            value += one;
            squares += one * one;
        }
        expected =
            std::sqrt(static_cast<double>(p.k)) * 0x1p-24 * (std::sqrt(squares) + std::abs(value));
    }
};

TEST(MatmulCheck, ToleratesNotMuchMoreThanFourTimesTheExpectedRounding) {
    for (const std::int64_t k : {8, 129, 4096}) {
        const auto matmul = product(3, 5, k);
        Computed computed(matmul);
        const Rounding rounding(computed, matmul.problem);
        const double last_place = 0x1p-23 * std::abs(rounding.value);  // of the result itself
        for (const double sign : {-1, 1}) {
            computed.put(0, rounding.value + sign * 3 * rounding.expected);
            EXPECT_TRUE(computed.check().passed) << k;
            computed.put(0, rounding.value + sign * (4.1 * rounding.expected + last_place));
            EXPECT_FALSE(computed.check().passed) << k;
        }
    }
}

// The product in fp32, each product added to the sum before, of operands changed by `round`.
void multiply_in_fp32(Computed& computed, const work::Matmul& p, float (*round)(float)) {
    const auto* a = static_cast<const float*>(computed.operands().a);
    const auto* b = static_cast<const float*>(computed.operands().b);
    for (std::int64_t i = 0; i < p.m; ++i) {
        for (std::int64_t j = 0; j < p.n; ++j) {
            float sum = 0;
            for (std::int64_t l = 0; l < p.k; ++l) {
                sum += round(a[i * p.k + l]) * round(b[l * p.n + j]);
            }
            computed.put(i * p.n + j, static_cast<double>(sum));
        }
    }
}

template <Type type>
float rounded(float value) {
    std::byte raw[4];
    work::store(type, static_cast<double>(value), raw);
    return static_cast<float>(work::load(type, raw, 0));
}

TEST(MatmulCheck, PassesSumsInFp32AndFindsNarrowerOperands) {
    for (const std::int64_t k : {31, 1031, 20000}) {
        const auto matmul = product(7, 9, k);
        Computed computed(matmul);
        multiply_in_fp32(computed, matmul.problem, [](float value) { return value; });
        EXPECT_TRUE(computed.check().passed) << k << ": " << computed.check().detail;
        multiply_in_fp32(computed, matmul.problem, rounded<Type::tf32>);
        EXPECT_FALSE(computed.check().passed) << k << ": " << computed.check().detail;
        multiply_in_fp32(computed, matmul.problem, rounded<Type::bf16>);
        EXPECT_FALSE(computed.check().passed) << k << ": " << computed.check().detail;
    }
}

// A product as a matrix unit makes it: `added` products at a time, aligned with the sum to the
// largest of them and cut off towards 0 at `bits`; after `promoted` products the sum is moved to
// one in fp32.
struct MatrixUnit {
    int added, bits, promoted;

    double sum(const std::vector<double>& products) const {
        float promoted_sum = 0;
        double partial = 0;
        for (std::size_t l = 0; l < products.size(); l += static_cast<std::size_t>(added)) {
            const auto end = std::min(products.size(), l + static_cast<std::size_t>(added));
            double largest = std::abs(partial);
            for (auto i = l; i < end; ++i) largest = std::max(largest, std::abs(products[i]));
            if (largest > 0) {
                const double unit = std::ldexp(1, std::ilogb(largest) + 1 - bits);
                partial = std::trunc(partial / unit) * unit;
                for (auto i = l; i < end; ++i) partial += std::trunc(products[i] / unit) * unit;
            }
            if (end % static_cast<std::size_t>(promoted) == 0) {
                promoted_sum += static_cast<float>(std::exchange(partial, 0));
            }
        }
        return static_cast<double>(promoted_sum) + partial;
    }

    void multiply(Computed& computed, const work::Matmul& p) const {
        const bool tb = work::b_transposed(p.layout);
        std::vector<double> products(static_cast<std::size_t>(p.k));
        for (std::int64_t i = 0; i < p.m; ++i) {
            for (std::int64_t j = 0; j < p.n; ++j) {
                for (std::int64_t l = 0; l < p.k; ++l) {
                    products[static_cast<std::size_t>(l)] =
                        computed.operand_a(i * p.k + l) *
                        computed.operand_b(tb ? j * p.k + l : l * p.n + j);
                }
                computed.put(i * p.n + j, sum(products));
            }
        }
    }
};

constexpr int kNever = 1 << 30;

TEST(MatmulCheck, PassesWhatMatrixUnitsMakeOfSums) {
    struct Row {
        Type type;
        work::Accumulation accumulation;
        MatrixUnit unit;
    };
    using work::Accumulation;
    const Row rows[]{
        {Type::fp8_e4m3fn, Accumulation::fast, {32, 14, kNever}},
        {Type::fp8_e4m3fn, Accumulation::exact, {32, 14, 128}},
        {Type::fp8_e5m2, Accumulation::fast, {32, 14, kNever}},
        {Type::tf32, Accumulation::exact, {8, 24, kNever}},
        {Type::bf16, Accumulation::exact, {16, 24, kNever}},
    };
    for (const auto& row : rows) {
        for (const std::int64_t k : {64, 1024, 8192, 28672}) {
            for (const auto* inputs : {"normal", "uniform", "ones", "ints"}) {
                auto matmul = product(5, 7, k, row.type);
                matmul.problem.output = Type::fp32;  // which hides nothing
                matmul.problem.accumulation = row.accumulation;
                matmul.inputs = work::parse_distribution(inputs);
                // A sum of 2^14 has no place for a 1 more in 14 bits.
                const bool full = row.accumulation == Accumulation::fast && k > 1 << 14;
                if (full && matmul.inputs == work::Distribution::ones) continue;
                Computed computed(matmul);
                row.unit.multiply(computed, matmul.problem);
                const auto check = computed.check();
                EXPECT_TRUE(check.passed) << to_case(matmul).text() << ": " << check.detail;
            }
        }
    }
}

TEST(MatmulCheck, FindsWhatIsMissingFromSumsOfNarrowAccumulators) {
    for (const auto accumulation : {work::Accumulation::fast, work::Accumulation::exact}) {
        for (const std::int64_t k : {64, 1024, 8192}) {
            auto matmul = product(5, 7, k, Type::fp8_e4m3fn);
            matmul.problem.accumulation = accumulation;
            auto done = matmul.problem;
            done.k = k - k / 8;  // a tile in K left out; its bytes lie elsewhere, so row by row
            Computed computed(matmul);
            for (std::int64_t i = 0; i < done.m; ++i) {
                for (std::int64_t j = 0; j < done.n; ++j) {
                    double sum = 0;
                    for (std::int64_t l = 0; l < done.k; ++l) {
                        sum += computed.operand_a(i * k + l) * computed.operand_b(l * done.n + j);
                    }
                    computed.put(i * done.n + j, sum);
                }
            }
            EXPECT_FALSE(computed.check().passed) << to_case(matmul).text();
        }
    }
}

TEST(MatmulCheck, FindsAccumulatorsThatAreNarrowerStill) {
    const auto passes = [](work::Accumulation accumulation, const MatrixUnit& unit) {
        auto matmul = product(5, 7, 4096, Type::fp8_e4m3fn);
        matmul.problem.output = Type::fp32;
        matmul.problem.accumulation = accumulation;
        Computed computed(matmul);
        unit.multiply(computed, matmul.problem);
        return computed.check().passed;
    };
    EXPECT_TRUE(passes(work::Accumulation::exact, {32, 14, 128}));
    EXPECT_FALSE(passes(work::Accumulation::exact, {32, 9, 128}));
    EXPECT_FALSE(passes(work::Accumulation::exact, {32, 12, kNever}));
    EXPECT_TRUE(passes(work::Accumulation::fast, {32, 14, kNever}));
    EXPECT_FALSE(passes(work::Accumulation::fast, {32, 9, kNever}));
}

TEST(MatmulCheck, PoisonLeavesNoEarlierAnswerToBeTakenForANewOne) {
    for (const auto& matmul : every_kind(13, 29, 31)) {
        device::FakeDevice device;
        const RotatingOperands operands(device, matmul, kSeed);
        const MatmulChecker checker(matmul, kSeed, 8);
        const auto prepared = device.need<ops::Matmul>().prepare(matmul.problem);
        const auto stream = device.create_stream();
        EXPECT_FALSE(checker.check(device, operands.set(0)).passed) << "nothing ran";
        prepared->enqueue(*stream, operands.set(0));
        stream->synchronize();
        EXPECT_TRUE(checker.check(device, operands.set(0)).passed);
        checker.poison(device, operands.set(0));
        EXPECT_FALSE(checker.check(device, operands.set(0)).passed);
        prepared->enqueue(*stream, operands.set(0));
        stream->synchronize();
        EXPECT_TRUE(checker.check(device, operands.set(0)).passed);
    }
}

}  // namespace
}  // namespace assay::probes
