#include "base/json.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <gmock/gmock.h>

#include "base/error.h"
#include "expect_error.h"

namespace assay {
namespace {

using testing::HasSubstr;

constexpr auto kHint = "valid JSON in UTF-8";

TEST(JsonNumber, HasNullForWhatJsonCannotSay) {
    EXPECT_EQ(dump_line(json_number(0.5)), "0.5");
    EXPECT_EQ(dump_line(json_number(std::nan(""))), "null");
    EXPECT_EQ(dump_line(json_number(std::numeric_limits<double>::infinity())), "null");
    EXPECT_TRUE(std::isnan(number_of(Json(nullptr))));
    EXPECT_TRUE(std::isnan(number_of(Json("0.5"))));
    EXPECT_EQ(number_of(Json(3)), 3.0);
}

TEST(JsonNumber, SurvivesTextExactly) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 20000; ++i) {
        const auto value = std::bit_cast<double>(random());
        if (!std::isfinite(value)) continue;
        const auto read = number_of(parse_json(dump_line(json_number(value)), "text"));
        EXPECT_EQ(std::bit_cast<std::uint64_t>(read), std::bit_cast<std::uint64_t>(value));
    }
}

TEST(JsonInteger, IsAStringBeyondWhatADoubleHolds) {
    EXPECT_EQ(dump_line(json_integer(kLargestExactInteger)), "9007199254740992");
    EXPECT_EQ(dump_line(json_integer(kLargestExactInteger + 1)), "\"9007199254740993\"");
    for (const auto value : {std::uint64_t{0}, kLargestExactInteger, kLargestExactInteger + 1,
                             std::numeric_limits<std::uint64_t>::max()}) {
        EXPECT_EQ(integer_of(parse_json(dump_line(json_integer(value)), "text")), value);
    }
}

TEST(IntegerOf, RefusesOtherValues) {
    for (const auto* text : {"-1", "1.5", "1.0", "null", "true", "[]", "\"\"", "\"1x\"", "\"-1\"",
                             "\"18446744073709551616\""}) {
        expect_error<Error>([&] { integer_of(parse_json(text, "text")); },
                            std::string(text) + " is not a whole number", "string of digits");
    }
}

TEST(IntegerOf, TakesAnIntegerHoweverItWasMade) {
    EXPECT_EQ(integer_of(Json(5)), 5U);
    EXPECT_EQ(integer_of(Json(5U)), 5U);
    EXPECT_THROW(integer_of(Json(-5)), Error);
}

TEST(DumpLine, IsOneLineOfValidUtf8WithKeysInOrder) {
    EXPECT_EQ(dump_line({{"z", 1}, {"a", "x\ny"}}), R"({"z":1,"a":"x\ny"})");
    const auto text = dump_line({{"log", "bad \xff byte"}});
    EXPECT_EQ(text, "{\"log\":\"bad \xEF\xBF\xBD byte\"}");
    EXPECT_EQ(dump_line(parse_json(text, "text")), text);
}

TEST(ParseJson, NamesSourceByteAndReason) {
    const auto broken = [](const char* text, const char* place, const char* reason) {
        try {
            parse_json(text, "run.json");
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), testing::StartsWith(std::string("run.json: ") + place));
            EXPECT_THAT(error.what(), HasSubstr(reason));
            EXPECT_THAT(error.what(), testing::Not(HasSubstr("json.exception")));
            EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
            EXPECT_THAT(error.hint(), HasSubstr(kHint));
        }
    };
    broken("", "byte 1: ", "unexpected end of input");
    broken("{\"a\":1", "byte 7: ", "unexpected end of input");
    broken("{\"a\" 1}", "byte 6: ", "unexpected number literal");
    broken("[1]\n[2]", "byte 5: ", "expected end of input");
    broken("[nan]", "byte 3: ", "invalid literal");
    broken("\"\xff\"", "byte 2: ", "UTF-8");
    broken("[1e999]", "", "number overflow");
}

TEST(ParseJson, RefusesEndlessNesting) {
    const std::string fine = std::string(200, '[') + std::string(200, ']');
    EXPECT_EQ(dump_line(parse_json(fine, "text")), fine);
    expect_error<Error>([] { parse_json(std::string(1'000'000, '['), "run.json"); },
                        "run.json: nested over 256 levels deep", kHint);
}

}  // namespace
}  // namespace assay
