// The matrix product C = epilogue(A x B): what is computed, and its exact cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "work/type.h"

namespace assay::work {

// All matrices are row-major. A is M x K and B is K x N where the letter is n; t means that the
// operand lies transposed in memory (A as K x M, B as N x K). C is always M x N.
enum class Layout { nn, nt, tn, tt };

// GELU is the tanh form. The bias has N elements of C's type.
enum class Epilogue { none, bias, gelu, bias_gelu };

// How sums of fp8 products are kept: fast leaves them in the matrix unit's narrower accumulator,
// exact promotes partial sums to the accumulate type as it goes.
enum class Accumulation { exact, fast };

struct Matmul {
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t batch = 1;  // independent products, operands one after the other
    Type operand = Type::fp32;
    Type accumulate = Type::fp32;
    Type output = Type::fp32;
    Layout layout = Layout::nn;
    Epilogue epilogue = Epilogue::none;
    std::optional<Type> operand_b = std::nullopt;  // of B, where it isn't A's
    Accumulation accumulation = Accumulation::exact;
    float scale_a = 1, scale_b = 1;  // of a whole operand: C = epilogue(scale_a A x scale_b B)

    bool operator==(const Matmul&) const = default;
};

std::string_view name(Layout layout);
std::string_view name(Epilogue epilogue);
std::string_view name(Accumulation accumulation);
Layout parse_layout(std::string_view word);              // throws UsageError
Epilogue parse_epilogue(std::string_view word);          // throws UsageError
Accumulation parse_accumulation(std::string_view word);  // throws UsageError

Type type_b(const Matmul& problem);

bool a_transposed(Layout layout);
bool b_transposed(Layout layout);
bool has_bias(Epilogue epilogue);
bool has_gelu(Epilogue epilogue);

// 2 M N K per product of the batch; the epilogue isn't counted. A double: exact to 2^53.
double flop(const Matmul& problem);

// Elements of one operand over the whole batch.
std::uint64_t a_elements(const Matmul& problem);
std::uint64_t b_elements(const Matmul& problem);
std::uint64_t c_elements(const Matmul& problem);
// Bytes that must cross the memory bus at least once: A, B and the bias (one for the whole batch)
// read, C written.
std::uint64_t bytes(const Matmul& problem);

// Accumulate and output types used when none is asked for: int8 gives int32/int32, fp8 fp32/bf16,
// fp64 fp64/fp64, others fp32 and the operand's own storage type.
Type default_accumulate(Type operand);
Type default_output(Type operand);
// The layout that every device with the type takes: nt for fp8, whose products exist only with both
// operands contiguous along K; else nn.
Layout default_layout(Type operand);

// Throws UsageError naming the dimension when M, N, K or batch is outside 1 .. 2^31 - 1, and when
// the operands take over 2^62 bytes: what passes can be counted in 64 bits. So does fast
// accumulation of other types than fp8, and a scale that isn't positive and finite, or scales
// integers.
void validate(const Matmul& problem);

}  // namespace assay::work
