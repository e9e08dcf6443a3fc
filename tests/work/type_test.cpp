#include "work/type.h"

#include <gmock/gmock.h>

#include "base/expect_error.h"

namespace assay::work {
namespace {

constexpr Type kAll[] = {Type::fp64, Type::fp32,       Type::tf32,         Type::fp16,
                         Type::bf16, Type::fp8_e4m3fn, Type::fp8_e4m3fnuz, Type::fp8_e5m2,
                         Type::int8, Type::int32};

TEST(Type, ReadsBackItsName) {
    for (const Type type : kAll) EXPECT_EQ(parse_type(name(type)), type) << name(type);
}

TEST(Type, AllAreListed) {
    EXPECT_THAT(all_types(), testing::ElementsAreArray(kAll));
}

TEST(Type, NamesAndSizesAreThoseOfTheField) {
    EXPECT_EQ(name(Type::fp8_e4m3fnuz), "fp8_e4m3fnuz");
    EXPECT_EQ(size_of(Type::fp64), 8U);
    EXPECT_EQ(size_of(Type::tf32), 4U);
    EXPECT_EQ(size_of(Type::bf16), 2U);
    EXPECT_EQ(size_of(Type::fp8_e5m2), 1U);
    EXPECT_EQ(size_of(Type::int32), 4U);
}

TEST(Type, RoundsByHalfTheStepAboveOne) {
    EXPECT_EQ(unit_roundoff(Type::fp64), 0x1p-53);
    EXPECT_EQ(unit_roundoff(Type::fp32), 0x1p-24);
    EXPECT_EQ(unit_roundoff(Type::tf32), 0x1p-11);
    EXPECT_EQ(unit_roundoff(Type::fp16), 0x1p-11);
    EXPECT_EQ(unit_roundoff(Type::bf16), 0x1p-8);
    EXPECT_EQ(unit_roundoff(Type::fp8_e4m3fn), 0x1p-4);
    EXPECT_EQ(unit_roundoff(Type::fp8_e5m2), 0x1p-3);
    EXPECT_EQ(unit_roundoff(Type::int8), 0);
}

TEST(Type, KnowsItsIntegers) {
    for (const Type type : kAll) {
        EXPECT_EQ(is_integer(type), type == Type::int8 || type == Type::int32) << name(type);
    }
}

TEST(ParseType, NamesTheUnknownAndTheKnown) {
    expect_error<UsageError>([] { parse_type("bf17"); }, R"(unknown type "bf17")", "bf16");
    expect_error<UsageError>([] { parse_type("posit"); }, R"(unknown type "posit")",
                             "fp64, fp32, tf32, fp16, bf16, fp8_e4m3fn");
}

TEST(ParseTypes, ReadsListsInOrder) {
    EXPECT_THAT(parse_types("bf16, fp32"), testing::ElementsAre(Type::bf16, Type::fp32));
    EXPECT_THROW(parse_types("bf16,,fp32"), UsageError);
}

}  // namespace
}  // namespace assay::work
