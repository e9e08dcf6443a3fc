// How many blocks launches take, and what kernels are called.
#include <gtest/gtest.h>

#include "attention_problem.h"
#include "cuda/attention/kernels.h"

namespace assay::cuda {
namespace {

using work::AttentionPass;
using work::Type;

TEST(CudaAttentionLaunch, CountsTheBlocksOfEachOne) {
    AttentionArguments p;
    p.batch = 2;
    p.heads = 8;
    p.kv_heads = 4;
    p.tile_rows = 10;
    p.key_pieces = p.value_pieces = 1;
    const KernelChoice forward{Type::bf16, AttentionPass::forward, Heads::upto128};
    const KernelChoice backward{Type::bf16, AttentionPass::backward, Heads::upto128};
    // Tiles; rows of queries or keys go eight a block.
    EXPECT_EQ(most_blocks(forward, p, 1'000'000, 1'000'000), 10 * 2 * 8);
    p.tile_rows = 100;
    EXPECT_EQ(most_blocks(backward, p, 8, 1'000'000), 100 * 2 * 4);
    EXPECT_EQ(most_blocks(backward, p, 8'000, 1'000'000), 1'000 * 2 * 8);
    p.shares = 3;
    EXPECT_EQ(most_blocks(backward, p, 8, 8), 100 * 2 * 4 * 3);
    EXPECT_EQ(most_blocks(backward, p, 8, 1'000'000), 125'000 * 2 * 4);
    // Few tiles, few queries, and too many blocks for the sums of keys.
    p.batch = 4;
    EXPECT_GT(most_blocks(backward, p, 8, std::int64_t{1} << 30), kMostBlocks);
    p.shares = 1;
    EXPECT_LT(most_blocks(backward, p, 8, std::int64_t{1} << 30), kMostBlocks);
}

TEST(CudaAttentionLaunch, ALaunchOfTooManyBlocksIsAnErrorAndNotAnother) {
    AttentionArguments p;
    p.batch = p.heads = p.kv_heads = 1 << 10;
    p.tile_rows = 1 << 12;  // 2^32 blocks: none in 32 bits
    EXPECT_EQ(launch_prepare_rows(Type::bf16, p, nullptr), cudaErrorInvalidConfiguration);
    EXPECT_EQ(launch_finish_keys(Type::bf16, p, nullptr), cudaErrorInvalidConfiguration);
}

TEST(CudaAttentionLaunch, NamesKernelsByTheirSizes) {
    const auto name = [](Type type, AttentionPass pass, Heads heads) {
        return name_of({type, pass, heads});
    };
    constexpr auto kForward = AttentionPass::forward, kBackward = AttentionPass::backward;
    EXPECT_EQ(name(Type::fp32, kForward, Heads::any), "fp32 64x64");
    EXPECT_EQ(name(Type::fp32, kBackward, Heads::any), "fp32 64x64 in pieces of 64");
    EXPECT_EQ(name(Type::bf16, kForward, Heads::upto64), "mma.sync 128x128 d64");
    EXPECT_EQ(name(Type::bf16, kForward, Heads::upto192_128), "mma.sync 128x64 d192/128");
    EXPECT_EQ(name(Type::fp16, kForward, Heads::any), "mma.sync 64x64 in pieces of 64/256");
    EXPECT_EQ(name(Type::bf16, kBackward, Heads::upto64), "mma.sync 64x128 d64");
    EXPECT_EQ(name(Type::bf16, kBackward, Heads::any), "mma.sync 64x64 in pieces of 128");
}

}  // namespace
}  // namespace assay::cuda
