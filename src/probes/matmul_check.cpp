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
        const double right = work::fill_value(
            b, p.operand, b_base + position(x, column, p.k, p.n, work::b_transposed(p.layout)));
        const double product = left * right;
        sum += product;
        squares += product * product;
    }
    if (work::has_bias(p.epilogue)) {
        sum += work::fill_value({matmul.inputs, seed, kStreamBias}, p.output,
                                static_cast<std::uint64_t>(column));
    }
    ReferenceElement reference{work::has_gelu(p.epilogue) ? gelu_tanh(sum) : sum, 0};
    if (work::is_integer(p.output)) return reference;

    const double accumulate = work::unit_roundoff(p.accumulate);
    const double output = work::unit_roundoff(p.output);
    reference.tolerance =
        4 * std::sqrt(static_cast<double>(p.k)) * accumulate * (std::sqrt(squares) + std::abs(sum));
    if (work::has_gelu(p.epilogue)) {
        reference.tolerance *= 1.13;
        const double slack = work::size_of(p.output) < 4 ? 0x1p-10 : 0x1p-20;
        reference.tolerance += slack * std::max(1.0, std::abs(reference.value));
    }
    reference.tolerance += output * std::abs(reference.value);
    return reference;
}

record::Check check_matmul(device::Device& device, const MatmulCase& matmul,
                           const ops::MatmulOperands& operands, std::uint64_t seed, int samples) {
    const auto& p = matmul.problem;
    const std::size_t width = work::size_of(p.output);
    const auto elements = static_cast<std::uint64_t>(p.batch * p.m * p.n);
    double worst = 0;  // error over tolerance
    int looked_at = 0;

    const auto look = [&](std::uint64_t index) -> std::string {
        const auto at = static_cast<std::int64_t>(index);
        const std::int64_t item = at / (p.m * p.n);
        const std::int64_t row = at / p.n % p.m;
        const std::int64_t column = at % p.n;
        std::byte raw[8];
        device.copy_out(raw, static_cast<const std::byte*>(operands.c) + index * width, width);
        const double got = work::load(p.output, raw, 0);
        const auto expected = reference_element(matmul, seed, item, row, column);
        const bool exact = got == stored(p.output, expected.value);
        const double error = exact ? 0 : std::abs(got - expected.value);
        ++looked_at;
        // Written so that a NaN fails.
        if (!(error <= expected.tolerance)) {
            return fmt::format(
                "element ({}, {}) of product {} is {:.9g}, expected {:.9g} +- {:.2g}", row, column,
                item, got, expected.value, expected.tolerance);
        }
        if (expected.tolerance > 0) worst = std::max(worst, error / expected.tolerance);
        return {};
    };

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
        if (auto wrong = look(index); !wrong.empty()) return {"answer", false, wrong};
    }
    return {
        "answer", true,
        fmt::format("{} elements within tolerance of double precision, the worst at {:.2g} of it",
                    looked_at, worst)};
}

}  // namespace assay::probes
