#include "record/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::record {
namespace {

TEST(Case, TextLeavesOutDefaultsAndKeepsOrder) {
    Case what;
    what.set("m", 8192).set("cache", "cold", "cold").set("dtype", "bf16", "fp32");
    EXPECT_EQ(what.text(), "m=8192 dtype=bf16");
}

TEST(Case, NewAxisAtItsDefaultRenamesNothing) {
    Case before;
    before.set("m", 8192);
    Case after = before;
    after.set("batch", "1", "1");
    EXPECT_EQ(after.text(), before.text());
    EXPECT_NE(after, before);
}

TEST(Case, SetAgainReplacesInPlace) {
    Case what;
    what.set("m", 1).set("n", "2", "2").set("m", 3).set("n", "4", "2");
    EXPECT_EQ(what.text(), "m=3 n=4");
}

TEST(Case, AnEmptyValueIsNoDefaultUnlessSaid) {
    EXPECT_EQ(Case().set("epilogue", "").text(), "epilogue=\"\"");
    EXPECT_EQ(Case().set("epilogue", "", "").text(), "");
}

TEST(Case, TextSplitsInOneWayOnly) {
    EXPECT_EQ(Case().set("file", "a b").text(), R"(file="a b")");
    EXPECT_EQ(Case().set("file", "a\"\\\n").text(), R"(file="a\"\\\x0a")");
    EXPECT_EQ(Case().set("a=b", "c").text(), R"("a=b"=c)");
    EXPECT_EQ(Case().set("unit", "\u00b5s").text(), "unit=\u00b5s");
    EXPECT_NE(Case().set("a", "1 b=2").text(), Case().set("a", "1").set("b", "2").text());
}

TEST(Case, GivesValues) {
    Case what;
    what.set("m", -5).set("bytes", "64K").set("dtype", "bf16");
    EXPECT_EQ(what.integer("m"), -5);
    EXPECT_EQ(what.size("bytes"), 65536u);
    EXPECT_EQ(what.at("dtype"), "bf16");
    EXPECT_TRUE(what.has("m"));
    EXPECT_FALSE(what.has("k"));
}

std::string error_of(auto&& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(Case, ErrorsNameThePair) {
    Case what;
    what.set("m", 5).set("dtype", "bf16").set("bytes", -1);
    EXPECT_EQ(error_of([&] { what.at("k"); }), R"(the case "m=5 dtype=bf16 bytes=-1" has no "k")");
    EXPECT_THAT(error_of([&] { what.integer("dtype"); }), testing::StartsWith("case dtype=bf16: "));
    EXPECT_THAT(error_of([&] { what.size("bytes"); }), testing::StartsWith("case bytes=-1: "));
}

}  // namespace
}  // namespace assay::record
