// Number types of operands and results.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::work {

enum class Type {
    fp64,
    fp32,
    tf32,  // stored as fp32; products round operands to 10 fraction bits
    fp16,
    bf16,
    fp8_e4m3fn,    // OCP: largest 448, no infinity
    fp8_e4m3fnuz,  // AMD MI300: largest 240, no negative zero
    fp8_e5m2,      // OCP: largest 57344
    int8,
    int32,
};

std::string_view name(Type type);
// Throws UsageError that lists the known names.
Type parse_type(std::string_view word);
std::vector<Type> parse_types(std::string_view list);
std::vector<Type> all_types();

// Bytes one element takes in memory.
std::size_t size_of(Type type);

bool is_integer(Type type);
bool is_fp8(Type type);

// Unit roundoff: half the distance from 1 to the next larger number. 0 for integers.
double unit_roundoff(Type type);

}  // namespace assay::work
