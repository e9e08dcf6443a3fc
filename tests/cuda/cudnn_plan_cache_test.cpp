#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "attention_problem.h"
#include "base/files.h"
#include "base/scratch.h"
#include "cuda/cudnn/attention_graph.h"
#include "cuda/cudnn/plan_cache.h"

namespace assay::cuda {
namespace {

namespace fs = std::filesystem;
using work::AttentionPass;

const CudnnPlanKey kKey{"NVIDIA H200 90", "cuDNN 9.19.0 of CUDA 13000", "t1 e2\nmatmul 1,2 3\n"};
const KeptPlan kPlan{"engine 2", "{\"kernelName\":\"cudnn_sm90_x\"}\nmore\n"};

class CudnnPlanCacheTest : public testing::Test {
  protected:
    Scratch scratch_;
    CudnnPlanCache cache_{scratch_ / "cache"};
};

TEST_F(CudnnPlanCacheTest, GivesBackWhatWasKept) {
    EXPECT_EQ(cache_.find(kKey), std::nullopt);
    EXPECT_EQ(cache_.keep(kKey, kPlan), "");
    EXPECT_EQ(cache_.find(kKey), kPlan);
    EXPECT_EQ(cache_.keep(kKey, {"engine 3", "{}"}), "");
    EXPECT_EQ(cache_.find(kKey), (KeptPlan{"engine 3", "{}"}));
    cache_.drop(kKey);
    EXPECT_EQ(cache_.find(kKey), std::nullopt);
}

TEST_F(CudnnPlanCacheTest, EveryPartOfTheKeyCounts) {
    ASSERT_EQ(cache_.keep(kKey, kPlan), "");
    for (const auto part : {&CudnnPlanKey::device, &CudnnPlanKey::library, &CudnnPlanKey::graph}) {
        auto other = kKey;
        other.*part += " ";
        EXPECT_NE(other.hash(), kKey.hash());
        EXPECT_EQ(cache_.find(other), std::nullopt);
        // Under that key's name, but not its own.
        fs::copy_file(cache_.file(kKey), cache_.file(other));
        EXPECT_EQ(cache_.find(other), std::nullopt);
    }
    // What ends one part doesn't begin the next.
    EXPECT_NE((CudnnPlanKey{"a", "bc", "d"}.hash()), (CudnnPlanKey{"ab", "c", "d"}.hash()));
    EXPECT_EQ(kKey.hash().size(), 64U);
}

// write_file() waits for the disk each time.
void overwrite(const fs::path& file, const std::string& content) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

TEST_F(CudnnPlanCacheTest, ADamagedFileIsNoPlan) {
    ASSERT_EQ(cache_.keep(kKey, kPlan), "");
    const auto good = read_file(cache_.file(kKey));
    for (std::size_t at = 0; at < good.size(); ++at) {
        auto bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 1);
        overwrite(cache_.file(kKey), bad);
        EXPECT_FALSE(cache_.find(kKey)) << "byte " << at;
    }
    for (std::size_t length = 0; length < good.size(); ++length) {
        overwrite(cache_.file(kKey), good.substr(0, length));
        EXPECT_FALSE(cache_.find(kKey)) << "cut to " << length;
    }
    EXPECT_EQ(cache_.keep(kKey, kPlan), "");
    EXPECT_EQ(cache_.find(kKey), kPlan);
}

TEST_F(CudnnPlanCacheTest, WhatCantBeKeptSaysWhy) {
    // A file where the folder should be; and a device that is always full.
    write_file(scratch_ / "cache", "");
    EXPECT_NE(cache_.keep(kKey, kPlan), "");
    EXPECT_EQ(cache_.find(kKey), std::nullopt);
    const CudnnPlanCache full(scratch_ / "full");
    fs::create_directories(scratch_ / "full");
    fs::create_symlink("/dev/full", full.file(kKey));
    EXPECT_NE(full.keep(kKey, kPlan), "");
    const CudnnPlanCache none(fs::path{});
    EXPECT_NE(none.keep(kKey, kPlan), "");
    EXPECT_EQ(none.find(kKey), std::nullopt);
}

CudnnPlanKey numbered(int number) {
    auto key = kKey;
    key.graph += std::to_string(number);
    return key;
}

// As if it was last used so many hours ago.
void age(const CudnnPlanCache& cache, const CudnnPlanKey& key, int hours) {
    fs::last_write_time(cache.file(key),
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
}

TEST_F(CudnnPlanCacheTest, KeepsThoseUsedLast) {
    const CudnnPlanCache cache(scratch_ / "cache", {.files = 3});
    fs::create_directories(scratch_ / "cache/folder");
    for (const int i : {1, 2, 3}) {
        ASSERT_EQ(cache.keep(numbered(i), kPlan), "");
        age(cache, numbered(i), 10 - i);
    }
    EXPECT_EQ(cache.find(numbered(1)), kPlan);  // the oldest, used again
    ASSERT_EQ(cache.keep(numbered(4), kPlan), "");
    EXPECT_EQ(cache.find(numbered(2)), std::nullopt);
    for (const int i : {1, 3, 4}) EXPECT_EQ(cache.find(numbered(i)), kPlan) << i;
    // One that is written anew takes no other's place.
    ASSERT_EQ(cache.keep(numbered(3), kPlan), "");
    for (const int i : {1, 3, 4}) EXPECT_EQ(cache.find(numbered(i)), kPlan) << i;
    EXPECT_TRUE(fs::is_directory(scratch_ / "cache/folder"));
}

TEST_F(CudnnPlanCacheTest, KeepsNoMoreBytesThanItMay) {
    ASSERT_EQ(cache_.keep(numbered(1), kPlan), "");
    const auto size = fs::file_size(cache_.file(numbered(1)));
    age(cache_, numbered(1), 2);
    const CudnnPlanCache two(scratch_ / "cache", {.bytes = 2 * size + 1});
    ASSERT_EQ(two.keep(numbered(2), kPlan), "");
    age(two, numbered(2), 1);
    EXPECT_TRUE(fs::exists(two.file(numbered(1))));
    ASSERT_EQ(two.keep(numbered(3), kPlan), "");
    EXPECT_FALSE(fs::exists(two.file(numbered(1))));
    EXPECT_TRUE(fs::exists(two.file(numbered(2))));
    // The new one stays, whatever its size.
    const CudnnPlanCache none(scratch_ / "cache", {.bytes = 1});
    ASSERT_EQ(none.keep(numbered(4), kPlan), "");
    EXPECT_EQ(none.find(numbered(4)), kPlan);
    EXPECT_FALSE(fs::exists(none.file(numbered(3))));
}

CudnnGraph graph_of(const work::Attention& p, AttentionPass pass = AttentionPass::forward) {
    return cudnn_attention_graph(p, cudnn_entries(p, pass), pass, ScratchSize::by_token);
}

// By both ways to tell.
bool are_alike(const CudnnGraph& a, const CudnnGraph& b) {
    EXPECT_EQ(is_planned_alike(a, b), a.text() == b.text());
    return is_planned_alike(a, b);
}

TEST(CudnnPlanKeyTest, AnotherProblemHasAnotherGraph) {
    const auto one = graph_of(attention({}));
    EXPECT_TRUE(are_alike(graph_of(attention({})), one));
    EXPECT_FALSE(are_alike(graph_of(attention({}), AttentionPass::backward), one));
    for (const auto& other :
         {attention({.batch = 3}), attention({.keys = 300}), attention({.kv_heads = 2}),
          attention({}, "full"), attention({}, "causal+window:8"),
          attention({}, "causal+document:100/156"),
          attention({}, "causal", work::AttentionLayout::packed),
          attention({}, "causal", work::AttentionLayout::bshd, work::Type::fp16)}) {
        EXPECT_FALSE(are_alike(graph_of(other), one)) << work::name(other.mask);
    }
}

TEST(CudnnPlanKeyTest, EveryPartOfATensorOrNodeCounts) {
    const auto one = graph_of(attention({}, "causal+document:100/156"), AttentionPass::backward);
    const auto expect_other = [&](auto change) {
        auto other = one;
        change(other);
        EXPECT_FALSE(are_alike(other, one));
    };
    expect_other([](CudnnGraph& g) { g.tensors.back().id += 1000; });
    expect_other([](CudnnGraph& g) { g.tensors.back().element = GraphElement::int64; });
    expect_other([](CudnnGraph& g) { g.tensors.back().place = GraphPlace::operand; });
    expect_other([](CudnnGraph& g) { g.tensors.back().dims[3] += 1; });
    expect_other([](CudnnGraph& g) { g.tensors.back().strides[0] += 1; });
    expect_other([](CudnnGraph& g) { g.tensors.back().offsets = 1; });
    expect_other([](CudnnGraph& g) { g.tensors.pop_back(); });
    expect_other([](CudnnGraph& g) { g.nodes.back().step = GraphStep::less; });
    expect_other([](CudnnGraph& g) { g.nodes.back().inputs.push_back(1); });
    expect_other([](CudnnGraph& g) { g.nodes.back().output += 1; });
    expect_other([](CudnnGraph& g) { g.nodes.back().compute = GraphElement::int32; });
    expect_other([](CudnnGraph& g) { g.nodes.back().rows += 1; });
    expect_other([](CudnnGraph& g) { g.nodes.back().columns += 1; });
    expect_other([](CudnnGraph& g) { g.nodes.back().inner += 1; });
    expect_other([](CudnnGraph& g) { g.nodes.pop_back(); });
}

// They are given with each run.
TEST(CudnnPlanKeyTest, NumbersOfAMaskAreNoPartOfAPlan) {
    EXPECT_TRUE(are_alike(graph_of(attention({}, "causal+window:8")),
                          graph_of(attention({}, "causal+window:9"))));
    auto scaled = attention({});
    scaled.scale = 3;
    EXPECT_TRUE(are_alike(graph_of(scaled), graph_of(attention({}))));
}

}  // namespace
}  // namespace assay::cuda
