#include "work/matmul.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"
#include "work/named_rows.h"

namespace assay::work {
namespace {

struct LayoutRow {
    Layout layout;
    std::string_view name;
    bool a_transposed, b_transposed;
};
struct EpilogueRow {
    Epilogue epilogue;
    std::string_view name;
    bool bias, gelu;
};

// Both in the order of their enumerations.
constexpr std::array<LayoutRow, 4> kLayouts{{{Layout::nn, "nn", false, false},
                                             {Layout::nt, "nt", false, true},
                                             {Layout::tn, "tn", true, false},
                                             {Layout::tt, "tt", true, true}}};
constexpr std::array<EpilogueRow, 4> kEpilogues{{{Epilogue::none, "none", false, false},
                                                 {Epilogue::bias, "bias", true, false},
                                                 {Epilogue::gelu, "gelu", false, true},
                                                 {Epilogue::bias_gelu, "bias+gelu", true, true}}};

struct AccumulationRow {
    Accumulation accumulation;
    std::string_view name;
};
constexpr std::array<AccumulationRow, 2> kAccumulations{
    {{Accumulation::exact, "exact"}, {Accumulation::fast, "fast"}}};

const LayoutRow& row(Layout layout) {
    return kLayouts[static_cast<std::size_t>(layout)];
}
const EpilogueRow& row(Epilogue epilogue) {
    return kEpilogues[static_cast<std::size_t>(epilogue)];
}

std::uint64_t elements(const Matmul& problem, std::int64_t rows, std::int64_t columns) {
    return static_cast<std::uint64_t>(problem.batch) * static_cast<std::uint64_t>(rows) *
           static_cast<std::uint64_t>(columns);
}

}  // namespace

std::string_view name(Layout layout) {
    return row(layout).name;
}

std::string_view name(Epilogue epilogue) {
    return row(epilogue).name;
}

std::string_view name(Accumulation accumulation) {
    return kAccumulations[static_cast<std::size_t>(accumulation)].name;
}

Layout parse_layout(std::string_view word) {
    return row_named("layout", word, kLayouts).layout;
}

Epilogue parse_epilogue(std::string_view word) {
    return row_named("epilogue", word, kEpilogues).epilogue;
}

Accumulation parse_accumulation(std::string_view word) {
    return row_named("accumulation", word, kAccumulations).accumulation;
}

Type type_b(const Matmul& problem) {
    return problem.operand_b.value_or(problem.operand);
}

bool a_transposed(Layout layout) {
    return row(layout).a_transposed;
}

bool b_transposed(Layout layout) {
    return row(layout).b_transposed;
}

bool has_bias(Epilogue epilogue) {
    return row(epilogue).bias;
}

bool has_gelu(Epilogue epilogue) {
    return row(epilogue).gelu;
}

double flop(const Matmul& problem) {
    return 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
           static_cast<double>(problem.k) * static_cast<double>(problem.batch);
}

std::uint64_t a_elements(const Matmul& problem) {
    return elements(problem, problem.m, problem.k);
}

std::uint64_t b_elements(const Matmul& problem) {
    return elements(problem, problem.k, problem.n);
}

std::uint64_t c_elements(const Matmul& problem) {
    return elements(problem, problem.m, problem.n);
}

std::uint64_t bytes(const Matmul& problem) {
    const auto bias = has_bias(problem.epilogue) ? static_cast<std::uint64_t>(problem.n) : 0;
    return a_elements(problem) * size_of(problem.operand) +
           b_elements(problem) * size_of(type_b(problem)) +
           (c_elements(problem) + bias) * size_of(problem.output);
}

Type default_accumulate(Type operand) {
    if (is_integer(operand)) return Type::int32;
    return operand == Type::fp64 ? Type::fp64 : Type::fp32;
}

Type default_output(Type operand) {
    if (is_integer(operand)) return Type::int32;
    if (size_of(operand) == 1) return Type::bf16;
    return operand == Type::tf32 ? Type::fp32 : operand;
}

Layout default_layout(Type operand) {
    return is_fp8(operand) ? Layout::nt : Layout::nn;
}

void validate(const Matmul& problem) {
    constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
    const std::array<std::pair<std::string_view, std::int64_t>, 4> dimensions{
        {{"M", problem.m}, {"N", problem.n}, {"K", problem.k}, {"batch", problem.batch}}};
    for (const auto& [dimension, value] : dimensions) {
        if (value >= 1 && value <= kLargest) continue;
        throw UsageError(fmt::format("{} of {}x{}x{} is {}: must be 1 to {}", dimension, problem.m,
                                     problem.n, problem.k, value, kLargest),
                         "give M, N, K and the batch as whole numbers in that range");
    }
    const bool fp8 = is_fp8(problem.operand) && is_fp8(type_b(problem));
    if (problem.accumulation == Accumulation::fast && !fp8) {
        throw UsageError(fmt::format("fast accumulation of {} x {}: only fp8 has it",
                                     name(problem.operand), name(type_b(problem))),
                         "leave out --accumulation, or choose an fp8 type");
    }
    for (const float scale : {problem.scale_a, problem.scale_b}) {
        if (!(std::isfinite(scale) && scale > 0)) {
            throw UsageError(fmt::format("a scale of {} isn't a positive number", scale),
                             "write the scales of A and B as 0.5,2");
        }
        if (scale != 1 && (is_integer(problem.operand) || is_integer(type_b(problem)))) {
            throw UsageError(fmt::format("a scale of {} for integers", scale),
                             "only floating-point operands have scales");
        }
    }
    // In floating point, as the exact counts below would overflow.
    const auto of = [&](std::int64_t rows, std::int64_t columns, Type type) {
        return static_cast<double>(rows) * static_cast<double>(columns) *
               static_cast<double>(problem.batch) * static_cast<double>(size_of(type));
    };
    const double total = of(problem.m, problem.k, problem.operand) +
                         of(problem.k, problem.n, type_b(problem)) +
                         of(problem.m, problem.n, problem.output);
    constexpr double kAddressable = 0x1p62;
    if (total > kAddressable) {
        throw UsageError(
            fmt::format("operands of {}x{}x{}, batch {}, take {}: no machine holds that", problem.m,
                        problem.n, problem.k, problem.batch, format_bytes(total)),
            "give a smaller shape or batch");
    }
}

}  // namespace assay::work
