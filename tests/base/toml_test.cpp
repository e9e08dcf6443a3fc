#include "base/toml.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

#include "base/error.h"
#include "expect_error.h"
#include "scratch.h"

namespace assay {
namespace {

nlohmann::json parsed(std::string_view text) {
    TomlDocument document;
    return parse_toml(text, "suite.toml", document);
}

TEST(ParseToml, KeepsEveryKindOfValue) {
    const auto json = parsed(R"(
name = "quick"
whole = -9223372036854775808
real = 1.5
flag = true
list = [1, [2, 3], { x = "y" }]
a.b.c = 1
[table]
key = 'v'
[[probe]]
command = "gemm"
[[probe]]
command = "memory"
)");
    EXPECT_EQ(json, nlohmann::json::parse(R"({
        "name": "quick", "whole": -9223372036854775808, "real": 1.5, "flag": true,
        "list": [1, [2, 3], {"x": "y"}], "a": {"b": {"c": 1}}, "table": {"key": "v"},
        "probe": [{"command": "gemm"}, {"command": "memory"}]})"));
    EXPECT_TRUE(json["whole"].is_number_integer());
    EXPECT_TRUE(json["real"].is_number_float());
}

TEST(ParseToml, ReadsAnEmptyTextAsAnEmptyTable) {
    EXPECT_EQ(parsed(""), nlohmann::json::object());
    EXPECT_EQ(parsed("# only a remark\n"), nlohmann::json::object());
}

TEST(ParseToml, TurnsDatesIntoStrings) {
    EXPECT_EQ(parsed("d = 2025-11-30")["d"], "2025-11-30");
    EXPECT_EQ(parsed("t = 22:11:07")["t"], "22:11:07");
    EXPECT_EQ(parsed("z = 2025-11-30T22:11:07Z")["z"], "2025-11-30T22:11:07Z");
}

TEST(ParseToml, KeepsInfinity) {
    EXPECT_TRUE(std::isinf(parsed("x = inf")["x"].get<double>()));
    EXPECT_TRUE(std::isnan(parsed("x = nan")["x"].get<double>()));
}

TEST(ParseToml, KeepsThePlaceOfEachValue) {
    TomlDocument document;
    parse_toml("name = \"quick\"\n\n[[probe]]\ncommand = \"gemm\"\n  sizes = [16, 64]\n",
               "suite.toml", document);
    EXPECT_EQ(document.place("/name"), "suite.toml:1:8");
    EXPECT_EQ(document.place("/probe/0"), "suite.toml:3:1");
    EXPECT_EQ(document.place("/probe/0/command"), "suite.toml:4:11");
    EXPECT_EQ(document.place("/probe/0/sizes/1"), "suite.toml:5:16");
}

TEST(ParseToml, GivesTheNearestParentsPlaceForWhatIsAbsent) {
    TomlDocument document;
    parse_toml("\n[table]\nkey = 1\n", "suite.toml", document);
    EXPECT_EQ(document.place("/table/other"), "suite.toml:2:1");
    EXPECT_EQ(document.place("/table/other/deeper"), "suite.toml:2:1");
    EXPECT_EQ(document.place("/absent"), document.place(""));
    EXPECT_THAT(document.place(""), testing::StartsWith("suite.toml"));
}

TEST(ParseToml, EscapesKeysInPointers) {
    TomlDocument document;
    const auto json = parse_toml("\n\"a/b~c\" = 1\n", "x.toml", document);
    const nlohmann::json::json_pointer pointer("/a~1b~0c");
    EXPECT_EQ(json.at(pointer), 1);
    EXPECT_EQ(document.place(pointer.to_string()), "x.toml:2:11");
}

TEST(ParseToml, ForgetsTheEarlierDocument) {
    TomlDocument document;
    parse_toml("a = 1", "one.toml", document);
    parse_toml("\n\nb = 1", "two.toml", document);
    EXPECT_EQ(document.places.count("/a"), 0U);
    EXPECT_EQ(document.place("/b"), "two.toml:3:5");
}

TEST(ParseToml, NamesLineAndColumnOfAMistake) {
    const auto broken = [](const char* text, const char* place) {
        try {
            parsed(text);
            ADD_FAILURE() << text;
        } catch (const UsageError& error) {
            EXPECT_THAT(error.what(), testing::StartsWith(place));
            EXPECT_GT(std::string(error.what()).size(), std::string(place).size() + 2);
            EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
            EXPECT_THAT(error.hint(), testing::HasSubstr("key = value"));
        }
    };
    broken("name = \n", "suite.toml:1:8: ");
    broken("a = 1\nb = [1, 2\n", "suite.toml:2:11: ");
    broken("a = 1\na = 2\n", "suite.toml:2:");
    broken("\n[table\n", "suite.toml:2:7: ");
    broken("a = \"\xff\"\n", "suite.toml:1:");
    broken("a = 9223372036854775808\n", "suite.toml:1:");
}

TEST(LoadToml, NamesThePath) {
    const Scratch scratch;
    const auto path = scratch / "suite.toml";
    std::ofstream(path) << "a = 1\nb = ?\n";
    TomlDocument document;
    try {
        load_toml(path, document);
        ADD_FAILURE();
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), testing::StartsWith(path.string() + ":2:5: "));
    }
    std::ofstream(path) << "a = 7\n";
    EXPECT_EQ(load_toml(path, document)["a"], 7);
    EXPECT_EQ(document.place("/a"), path.string() + ":1:5");
}

TEST(LoadToml, SaysWhyAFileCannotBeRead) {
    const Scratch scratch;
    TomlDocument document;
    const auto path = scratch / "absent.toml";
    expect_error<UsageError>([&] { load_toml(path, document); },
                             "can't read " + path.string() + ": No such file or directory",
                             "check the path");
}

}  // namespace
}  // namespace assay
