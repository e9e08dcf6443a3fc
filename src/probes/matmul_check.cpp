#include "probes/matmul_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "probes/matmul_operands.h"
#include "work/fill.h"

namespace assay::probes {

namespace {

// Row-major position of element (i, j) of an `rows` x `columns` matrix, stored transposed or not.
std::uint64_t position(std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t columns,
                       bool transposed) {
    return static_cast<std::uint64_t>(transposed ? j * rows + i : i * columns + j);
}

// `value` as an element of `type` holds it: saturated, or infinite, beyond its range.
double stored(work::Type type, double value) {
    std::byte raw[8];
    work::store(type, value, raw);
    return work::load(type, raw, 0);
}

double gelu_tanh(double x) {
    constexpr double kSqrt2OverPi = 0.79788456080286535588;
    return 0.5 * x * (1.0 + std::tanh(kSqrt2OverPi * (x + 0.044715 * x * x * x)));
}

// What matrix units add at a time, at the least, and fp8's (matmul_check.h).
constexpr double kAddedAtATime = 8, kFp8AddedAtATime = 32;
constexpr double kFp8Cut = 0x1p-13;
constexpr double kFp8Promoted = 128;

// May the sum of K products differ by, `norm` being theirs.
double rounding(const work::Matmul& p, double norm, double sum) {
    const double k = static_cast<double>(p.k);
    const double unit = work::unit_roundoff(p.accumulate);
    double error = 4 * std::sqrt(k) * unit * (norm + sum);
    const bool vector_units = p.operand == work::Type::fp32 || p.operand == work::Type::fp64;
    if (!vector_units) error += k / kAddedAtATime * unit * sum;
    if (!work::is_fp8(p.operand) && !work::is_fp8(work::type_b(p))) return error;
    if (p.accumulation == work::Accumulation::fast) {
        return error + (4 * std::sqrt(k) + k / kFp8AddedAtATime) * kFp8Cut * (norm + sum);
    }
    return error + 4 * std::sqrt(std::min(k, kFp8Promoted)) * kFp8Cut * norm;
}

}  // namespace

ReferenceElement reference_element(const MatmulCase& matmul, std::uint64_t seed, std::int64_t item,
                                   std::int64_t row, std::int64_t column) {
    const auto& p = matmul.problem;
    const work::FillSpec a{matmul.inputs, seed, kStreamA};
    const work::FillSpec b{matmul.inputs, seed, kStreamB};
    const auto a_base = static_cast<std::uint64_t>(item * p.m * p.k);
    const auto b_base = static_cast<std::uint64_t>(item * p.k * p.n);
    double sum = 0;
    double squares = 0;
    for (std::int64_t x = 0; x < p.k; ++x) {
        const double left = work::fill_value(
            a, p.operand, a_base + position(row, x, p.m, p.k, work::a_transposed(p.layout)));
        const double right =
            work::fill_value(b, work::type_b(p),
                             b_base + position(x, column, p.k, p.n, work::b_transposed(p.layout)));
        const double product = left * right;
        sum += product;
        squares += product * product;
    }
    const double scale = static_cast<double>(p.scale_a) * static_cast<double>(p.scale_b);
    sum *= scale;
    const double product_alone = std::abs(sum);
    if (work::has_bias(p.epilogue)) {
        sum += work::fill_value({matmul.inputs, seed, kStreamBias}, p.output,
                                static_cast<std::uint64_t>(column));
    }
    ReferenceElement reference{work::has_gelu(p.epilogue) ? gelu_tanh(sum) : sum, 0};
    if (work::is_integer(p.output)) return reference;

    const double output = work::unit_roundoff(p.output);
    reference.tolerance = rounding(p, scale * std::sqrt(squares), std::abs(sum));
    if (p.epilogue != work::Epilogue::none) reference.tolerance += output * product_alone;
    if (work::has_gelu(p.epilogue)) {
        reference.tolerance *= 1.13;
        const double slack = work::size_of(p.output) < 4 ? 0x1p-10 : 0x1p-16;
        reference.tolerance += slack * std::max(1.0, std::abs(reference.value));
    }
    reference.tolerance += output * std::abs(reference.value);
    return reference;
}

MatmulChecker::MatmulChecker(const MatmulCase& matmul, std::uint64_t seed, int samples)
    : problem_(matmul.problem) {
    const auto& p = problem_;
    const auto elements = static_cast<std::uint64_t>(p.batch * p.m * p.n);
    // The corners catch a wrong edge; a stride prime to most dimensions spreads over rows and
    // tiles.
    const auto last_row = static_cast<std::uint64_t>((p.m - 1) * p.n);
    std::vector<std::uint64_t> indices{0, static_cast<std::uint64_t>(p.n - 1), last_row,
                                       elements - 1};
    // About two in each product of a batch, as far as 512 go.
    const auto spread = std::clamp<std::uint64_t>(2 * static_cast<std::uint64_t>(p.batch),
                                                  static_cast<std::uint64_t>(samples), 512);
    for (std::uint64_t i = 0; i < spread; ++i) {
        const double fraction = std::fmod(0.6180339887498949 * static_cast<double>(i + 1), 1.0);
        indices.push_back(std::min(
            elements - 1, static_cast<std::uint64_t>(fraction * static_cast<double>(elements))));
    }
    for (const std::uint64_t index : indices) {
        const auto at = static_cast<std::int64_t>(index);
        elements_.push_back(
            {index, reference_element(matmul, seed, at / (p.m * p.n), at / p.n % p.m, at % p.n)});
    }
}

void MatmulChecker::poison(device::Device& device, const ops::MatmulOperands& operands) const {
    const std::size_t width = work::size_of(problem_.output);
    std::byte raw[8];
    std::ranges::fill(raw, kPoison);
    for (const auto& element : elements_) {
        device.copy_in(static_cast<std::byte*>(operands.c) + element.index * width, raw, width);
    }
}

// "" when `got` is right.
std::string MatmulChecker::fault_of(const Element& element, double got) const {
    const auto& [value, tolerance] = element.expected;
    if (got == stored(problem_.output, value)) return {};
    // Written so that a NaN fails.
    if (std::abs(got - value) <= tolerance) return {};
    const auto at = static_cast<std::int64_t>(element.index);
    const auto& p = problem_;
    return fmt::format("element ({}, {}) of product {} is {:.9g}, expected {:.9g} +- {:.2g}",
                       at / p.n % p.m, at % p.n, at / (p.m * p.n), got, value, tolerance);
}

record::Check MatmulChecker::check(device::Device& device,
                                   const ops::MatmulOperands& operands) const {
    const std::size_t width = work::size_of(problem_.output);
    double worst = 0;  // error over tolerance
    for (const auto& element : elements_) {
        std::byte raw[8];
        device.copy_out(raw, static_cast<const std::byte*>(operands.c) + element.index * width,
                        width);
        const double got = work::load(problem_.output, raw, 0);
        if (auto fault = fault_of(element, got); !fault.empty()) return {"answer", false, fault};
        const auto& [value, tolerance] = element.expected;
        if (tolerance > 0 && got != stored(problem_.output, value)) {
            worst = std::max(worst, std::abs(got - value) / tolerance);
        }
    }
    return {
        "answer", true,
        fmt::format("{} elements within tolerance of double precision, the worst at {:.2g} of it",
                    elements_.size(), worst)};
}

record::Check check_matmul(device::Device& device, const MatmulCase& matmul,
                           const ops::MatmulOperands& operands, std::uint64_t seed, int samples) {
    return MatmulChecker(matmul, seed, samples).check(device, operands);
}

}  // namespace assay::probes
