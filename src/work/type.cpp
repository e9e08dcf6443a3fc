#include "work/type.h"

#include <array>
#include <cstdint>

#include "base/range.h"
#include "work/named_rows.h"

namespace assay::work {
namespace {

struct TypeRow {
    Type type;
    std::string_view name;
    std::size_t size;
    bool integer;
    int precision;  // bits of the significand, the leading one included
};

constexpr std::array<TypeRow, 10> kTypes{{
    {Type::fp64, "fp64", 8, false, 53},
    {Type::fp32, "fp32", 4, false, 24},
    {Type::tf32, "tf32", 4, false, 11},
    {Type::fp16, "fp16", 2, false, 11},
    {Type::bf16, "bf16", 2, false, 8},
    {Type::fp8_e4m3fn, "fp8_e4m3fn", 1, false, 4},
    {Type::fp8_e4m3fnuz, "fp8_e4m3fnuz", 1, false, 4},
    {Type::fp8_e5m2, "fp8_e5m2", 1, false, 3},
    {Type::int8, "int8", 1, true, 0},
    {Type::int32, "int32", 4, true, 0},
}};

// The rows stand in the order of the enumeration.
const TypeRow& row(Type type) {
    return kTypes[static_cast<std::size_t>(type)];
}

}  // namespace

std::string_view name(Type type) {
    return row(type).name;
}

Type parse_type(std::string_view word) {
    return row_named("type", word, kTypes).type;
}

std::vector<Type> parse_types(std::string_view list) {
    std::vector<Type> types;
    for (const auto& word : parse_words(list, "type")) types.push_back(parse_type(word));
    return types;
}

std::vector<Type> all_types() {
    std::vector<Type> all;
    for (const auto& each : kTypes) all.push_back(each.type);
    return all;
}

std::size_t size_of(Type type) {
    return row(type).size;
}

bool is_integer(Type type) {
    return row(type).integer;
}

bool is_fp8(Type type) {
    return size_of(type) == 1 && !is_integer(type);
}

double unit_roundoff(Type type) {
    if (is_integer(type)) return 0;
    return 1.0 / static_cast<double>(std::uint64_t{1} << row(type).precision);
}

}  // namespace assay::work
