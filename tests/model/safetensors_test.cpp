#include "model/safetensors.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/scratch.h"
#include "model/safetensors_files.h"
#include "model/usage_error.h"

namespace assay::model {
namespace {

TEST(Safetensors, HeadersGiveTensorsAndBytes) {
    const auto tensors = parse_safetensors_header(kTwo, 16, "x");
    ASSERT_EQ(tensors.size(), 2U);
    EXPECT_EQ(tensors[0].name, "a.weight");
    EXPECT_EQ(tensors[0].elements(), 6);
    EXPECT_EQ(tensors[1].dtype, "F8_E4M3");
    EXPECT_TRUE(parse_safetensors_header("{}", 0, "x").empty());
    // A scalar, an empty tensor, and four elements of half a byte.
    const auto odd = "{" + entry("s", "F32", "[]", "[0, 4]") + "," +
                     entry("e", "F32", "[0, 5]", "[4, 4]") + "," +
                     entry("f", "F4", "[4]", "[4, 6]") + "}";
    EXPECT_EQ(parse_safetensors_header(odd, 6, "x").size(), 3U);
}

TEST(Safetensors, CorruptHeadersAreNamed) {
    const auto fails = [](const std::string& tensors, std::uint64_t bytes,
                          const std::string& part) {
        expect_usage_error([&] { parse_safetensors_header("{" + tensors + "}", bytes, "x"); },
                           part);
    };
    fails(entry("a", "BF16", "[2]", "[0, 4]"), 2, R"(tensor "a" is at bytes [0,4] of 2)");
    fails(entry("a", "BF16", "[2]", "[4, 0]"), 4, R"(tensor "a" is at bytes [4,0])");
    fails(entry("a", "BF16", "[3]", "[0, 4]"), 4, "takes 6 bytes, not 4");
    fails(entry("a", "BF17", "[2]", "[0, 4]"), 4, "unknown dtype \"BF17\"");
    fails(entry("a", "BF16", "[-2]", "[0, 4]"), 4, "has the shape [-2]");
    fails(entry("a", "BF16", "[4294967296, 4294967296]", "[0, 4]"), 4, "has the shape");
    fails(entry("a", "BF16", "[2]", "[0]"), 4, "lacks dtype, shape or data_offsets");
    fails(entry("a", "BF16", "[2]", "[0, 4]") + "," + entry("b", "BF16", "[2]", "[2, 6]"), 6,
          R"(tensor "b" overlaps)");
    fails(entry("a", "BF16", "[2]", "[0, 4]") + "," + entry("b", "BF16", "[2]", "[6, 10]"), 10,
          "2 bytes before tensor \"b\" belong to none");
    fails(entry("a", "BF16", "[2]", "[0, 4]"), 8, "the last 4 bytes belong to no tensor");
    fails("\"a\": 1", 8, "lacks dtype");
    expect_usage_error([] { parse_safetensors_header("[]", 0, "x"); }, "x: the header is no JSON");
    expect_usage_error([] { parse_safetensors_header("{", 0, "x"); }, "x: byte");
}

TEST(Safetensors, AHeaderThatClaimsTooMuchIsNotRead) {
    Scratch scratch;
    const auto fails = [&](const std::string& content, const std::string& part) {
        write_file(scratch / "a.safetensors", content);
        expect_usage_error([&] { read_safetensors(scratch / "a.safetensors"); }, part);
    };
    fails(length_of(8'000'000'000) + "{}", "the header claims 8000000000 bytes, of a file of 10");
    fails(length_of(UINT64_MAX) + "{}", "the header claims 18446744073709551615 bytes");
    fails(length_of(3) + "{}", "the header claims 3 bytes, of a file of 10");
    fails("{}", "2 bytes are too few for a header");
    expect_usage_error([&] { read_safetensors(scratch / "none.safetensors"); }, "can't be read");
    // A pipe without a writer would be waited for.
    ASSERT_EQ(mkfifo((scratch / "pipe.safetensors").c_str(), 0600), 0);
    expect_usage_error([&] { read_safetensors(scratch / "pipe.safetensors"); },
                       "is no regular file");
}

}  // namespace
}  // namespace assay::model
