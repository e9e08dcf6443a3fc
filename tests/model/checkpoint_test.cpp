#include "model/checkpoint.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/scratch.h"
#include "model/safetensors_files.h"
#include "model/usage_error.h"

namespace assay::model {
namespace {

using testing::Optional;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(Checkpoint, FoldersAreTheSumOfTheirFiles) {
    Scratch scratch;
    expect_usage_error([&] { read_checkpoint(scratch.path()); }, "no *.safetensors file");
    write_file(scratch / "model-1.safetensors", file_of(kTwo, 16));
    write_file(scratch / "model-2.safetensors",
               file_of("{" + entry("c", "F32", "[2]", "[0, 8]") + "}", 8));
    const auto checkpoint = read_checkpoint(scratch.path());
    EXPECT_EQ(checkpoint.bytes, 24);
    EXPECT_THAT(checkpoint.elements, Optional(12));
    EXPECT_THAT(checkpoint.tensors, Optional(3));
    EXPECT_THAT(checkpoint.bytes_by_dtype,
                UnorderedElementsAre(Pair("BF16", 12), Pair("F8_E4M3", 4), Pair("F32", 8)));
    EXPECT_EQ(read_checkpoint(scratch / "model-1.safetensors").bytes, 16);
    write_file(scratch / "model-3.safetensors", file_of(kTwo, 16));
    expect_usage_error([&] { read_checkpoint(scratch.path()); }, "is in another file too");
}

TEST(Checkpoint, AnIndexAloneTellsBytes) {
    Scratch scratch;
    const auto index = scratch / "model.safetensors.index.json";
    write_file(index, R"({"metadata": {"total_size": 16060522496}, "weight_map": {
        "a.weight": "model-1.safetensors", "b.weight": "model-1.safetensors"}})");
    const auto alone = read_checkpoint(index);
    EXPECT_EQ(alone.bytes, 16'060'522'496);
    EXPECT_EQ(alone.elements, std::nullopt);
    EXPECT_THAT(alone.tensors, Optional(2));
    // With its files, they are read.
    write_file(scratch / "model-1.safetensors", file_of(kTwo, 16));
    EXPECT_EQ(read_checkpoint(scratch.path()).bytes, 16);
    EXPECT_THAT(read_checkpoint(scratch.path()).source,
                testing::HasSubstr("its own \"total_size\" is 16060522496"));
    write_file(index, R"({"metadata": {"total_size": 16}, "weight_map": {
        "a.weight": "model-1.safetensors", "b.weight": "model-1.safetensors"}})");
    EXPECT_EQ(read_checkpoint(scratch.path()).source, index.string());
    write_file(index, R"({"weight_map": {"ghost": "model-1.safetensors"}})");
    expect_usage_error([&] { read_checkpoint(index); }, "\"ghost\" isn't in model-1.safetensors");
    write_file(
        index,
        R"({"weight_map": {"a.weight": "model-1.safetensors", "c": "model-2.safetensors"}})");
    expect_usage_error([&] { read_checkpoint(index); }, "model-2.safetensors is missing");
    write_file(index, R"({"weight_map": {"a.weight": "../model-1.safetensors"}})");
    expect_usage_error([&] { read_checkpoint(index); }, "has no file's name");
    write_file(index, R"({"weight_map": {"a.weight": "model-9.safetensors"}})");
    expect_usage_error([&] { read_checkpoint(index); }, "total_size");
    write_file(index, "{}");
    expect_usage_error([&] { read_checkpoint(index); }, "weight_map");
}

TEST(Comparison, TellsConfigAndFilesApart) {
    Checkpoint checkpoint{.source = "x", .bytes = 16'060'522'496, .elements = 8'030'261'248};
    const auto same = compare(load_model("llama3-8b"), checkpoint);
    EXPECT_EQ(same.bytes_difference(), 0);
    EXPECT_THAT(same.parameters_difference(), Optional(0));
    checkpoint.elements = 8'030'261'248 + 100;
    EXPECT_THAT(compare(load_model("llama3-8b"), checkpoint).parameters_difference(),
                Optional(100));
    // Two parameters to a byte: only bytes compare.
    const auto packed = compare(load_model("gpt-oss-20b"), checkpoint);
    EXPECT_TRUE(packed.packed);
    EXPECT_EQ(packed.parameters_difference(), std::nullopt);
    // The files of DeepSeek-V3, by the count of its repository.
    checkpoint.elements = 684'531'386'000;
    EXPECT_THAT(compare(load_model("deepseek-v3"), checkpoint).parameters_difference(),
                Optional(0));
}

}  // namespace
}  // namespace assay::model
