#include "work/shapes.h"

#include <fstream>

#include <gmock/gmock.h>

#include "base/expect_error.h"
#include "base/scratch.h"

namespace assay::work {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kTokens = 16384;

std::vector<Shape> shapes(std::string_view text, std::int64_t ranks = 1) {
    return parse_shapes(text, kTokens, ranks);
}

TEST(ParseShapes, GivesTheArticlesProductsAsTheyWereRun) {
    EXPECT_THAT(shapes("article"),
                ElementsAre(Shape{16384, 8192, 1280, "qkv"}, Shape{16384, 1024, 8192, "out"},
                            Shape{16384, 8192, 7168, "gate_up"}, Shape{16384, 3584, 8192, "down"},
                            Shape{8192, 8192, 8192, "square"}));
}

TEST(ParseShapes, GivesTheTrueLayersOfLlama70BOnEightRanks) {
    EXPECT_THAT(
        shapes("llama3-70b", 8),
        ElementsAre(Shape{kTokens, 1280, 8192, "qkv"}, Shape{kTokens, 8192, 1024, "out"},
                    Shape{kTokens, 7168, 8192, "gate_up"}, Shape{kTokens, 8192, 3584, "down"},
                    Shape{kTokens, 16032, 8192, "head"}));
}

TEST(ParseShapes, GivesWholeLayersWithoutASplit) {
    EXPECT_THAT(parse_shapes("llama3-8b", 512, 1),
                ElementsAre(Shape{512, 6144, 4096, "qkv"}, Shape{512, 4096, 4096, "out"},
                            Shape{512, 28672, 4096, "gate_up"}, Shape{512, 4096, 14336, "down"},
                            Shape{512, 128256, 4096, "head"}));
    EXPECT_THAT(parse_shapes("gpt2-1.5b", 512, 1),
                ElementsAre(Shape{512, 4800, 1600, "qkv"}, Shape{512, 1600, 1600, "out"},
                            Shape{512, 6400, 1600, "up"}, Shape{512, 1600, 6400, "down"},
                            Shape{512, 50257, 1600, "head"}));
}

TEST(ParseShapes, KeepsTheHeadWholeWhereItDoesNotDivide) {
    EXPECT_EQ(shapes("gpt2-1.5b", 5).back(), (Shape{kTokens, 50257, 1600, "head"}));
}

// The layers' weights, which the products multiply by, and the input embedding are the model.
TEST(ParseShapes, HoldsEveryWeightOfTheModels) {
    const auto weights = [](std::string_view model, double layers, double embeddings) {
        double total = 0;
        for (const auto& shape : shapes(model)) {
            const double each = static_cast<double>(shape.n) * static_cast<double>(shape.k);
            total += each * (shape.layer == "head" ? embeddings : layers);
        }
        return total;
    };
    EXPECT_NEAR(weights("llama3-8b", 32, 2), 8.030e9, 0.001e9);
    EXPECT_NEAR(weights("llama3-70b", 80, 2), 70.554e9, 0.003e9);
    EXPECT_NEAR(weights("gpt2-1.5b", 48, 1), 1.558e9, 0.004e9);  // plus positions and biases
}

TEST(ParseShapes, GivesSquaresByPowersOfTwo) {
    EXPECT_THAT(shapes("square"),
                ElementsAre(Shape{256, 256, 256, ""}, Shape{512, 512, 512, ""},
                            Shape{1024, 1024, 1024, ""}, Shape{2048, 2048, 2048, ""},
                            Shape{4096, 4096, 4096, ""}, Shape{8192, 8192, 8192, ""}));
}

TEST(ParseShapes, TakesListsOfAnything) {
    EXPECT_THAT(shapes("1x2x3, 2147483647x1x1"),
                ElementsAre(Shape{1, 2, 3, ""}, Shape{2147483647, 1, 1, ""}));
    EXPECT_EQ(shapes("square,llama3-8b,4x5x6").size(), 6U + 5 + 1);
}

TEST(ParseShapes, EveryNamedSetParses) {
    for (const auto& name : shape_set_names()) EXPECT_FALSE(shapes(name).empty()) << name;
}

void expect_usage_error(std::string_view text, std::int64_t tokens, std::int64_t ranks,
                        const std::string& message, const std::string& hint) {
    expect_error<UsageError>([&] { parse_shapes(text, tokens, ranks); }, message, hint);
}

TEST(ParseShapes, NamesTheDimensionOutOfRange) {
    const char* hint = "in that range";
    expect_usage_error("0x5x5", 1, 1, "M of 0x5x5 is 0: must be 1 to 2147483647", hint);
    expect_usage_error("5x-1x5", 1, 1, "N of 5x-1x5 is -1: must be 1 to 2147483647", hint);
    expect_usage_error("5x5x2147483648", 1, 1,
                       "K of 5x5x2147483648 is 2147483648: must be 1 to 2147483647", hint);
    expect_usage_error("99999999999999999999x1x1", 1, 1,
                       "M of 99999999999999999999x1x1 is 99999999999999999999: must be 1 to "
                       "2147483647",
                       hint);
    expect_usage_error("llama3-8b", 0, 1, "--tokens is 0: must be 1 to 2147483647", hint);
    expect_usage_error("llama3-8b", 1, -8, "--tp is -8: must be 1 to 2147483647", hint);
}

TEST(ParseShapes, RejectsWhatIsNoShape) {
    for (const std::string text : {"12", "5x5", "5x5x5x5", "5xx5", "x5x5", "1.5x2x2", "+5x5x5"}) {
        expect_usage_error(text, 1, 1, "malformed shape \"" + text + '"', "4096x4096x1024");
    }
    expect_usage_error("lama3-8b", 1, 1, R"(unknown shape "lama3-8b")", "llama3-8b");
    expect_usage_error("zzzzzzzzzz", 1, 1, R"(unknown shape "zzzzzzzzzz")", "article, square");
    expect_usage_error("square,,article", 1, 1, R"(shape list "square,,article" has an empty item)",
                       "commas");
}

TEST(ParseShapes, SplitsOnlyWhatDivides) {
    expect_usage_error("llama3-8b", 1, 3, "--tp 3 doesn't divide the 32 heads of llama3-8b",
                       "number of ranks");
    expect_usage_error("llama3-70b", 1, 16,
                       "--tp 16 doesn't divide the 8 key/value heads of llama3-70b",
                       "number of ranks");
    expect_usage_error("square", 1, 2,
                       R"(--tp 2 splits the layers of a model, and "square" names none)", "--tp");
}

class ShapeFile : public testing::Test {
  protected:
    std::string write(std::string_view content) {
        const auto path = scratch_ / "shapes.toml";
        std::ofstream(path) << content;
        return path;
    }
    void expect_at(std::string_view content, const std::string& place, const std::string& reason) {
        const auto path = write(content);
        expect_usage_error(path, 1, 1, path + place + ": " + reason, "[[shape]]");
    }

  private:
    Scratch scratch_;
};

TEST_F(ShapeFile, GivesItsEntriesInOrder) {
    const auto path = write(R"(
[[shape]]
m = 1
n = 2
k = 3
layer = "first"
[[shape]]
k = 6
n = 5
m = 4
)");
    EXPECT_THAT(shapes(path + ",7x8x9"),
                ElementsAre(Shape{1, 2, 3, "first"}, Shape{4, 5, 6, ""}, Shape{7, 8, 9, ""}));
}

TEST_F(ShapeFile, ErrorsNameLineAndColumn) {
    expect_at("[[shape]]\nm = 0\nn = 1\nk = 1\n", ":2:5", "m is 0: must be 1 to 2147483647");
    expect_at("[[shape]]\nm = 1\nn = 4294967296\nk = 1\n", ":3:5",
              "n is 4294967296: must be 1 to 2147483647");
    expect_at("[[shape]]\nm = 1\nn = 1.5\nk = 1\n", ":3:5", "n must be a whole number");
    expect_at("[[shape]]\nm = 1\nn = 1\n", ":1:1", "shape has no k");
    expect_at("[[shape]]\nm = 1\nn = 1\nk = 1\nlayers = \"x\"\n", ":5:10",
              R"(unknown key "layers")");
    expect_at("[[shape]]\nm = 1\nn = 1\nk = 1\nlayer = 5\n", ":5:9", "layer must be a string");
    expect_at("shape = [1]\n", ":1:10", "a shape is a [[shape]] table");
    expect_at("shape = 5\n", ":1:9", "no [[shape]] entry");
    expect_at("title = \"x\"\n", ":1:9", R"(unknown key "title")");
    expect_at("", ":1:1", "no [[shape]] entry");
}

TEST_F(ShapeFile, PassesOnMalformedAndMissingFiles) {
    const auto path = write("[[shape]]\nm = \n");
    try {
        shapes(path);
        FAIL() << "parsed";
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), testing::StartsWith(path + ":2:"));
    }
    EXPECT_THROW(shapes("./no/such.toml"), Error);
}

}  // namespace
}  // namespace assay::work
