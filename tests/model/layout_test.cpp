#include "model/layout.h"

#include <numeric>

#include <gmock/gmock.h>

#include "base/expect_error.h"
#include "support/made_transformer.h"

namespace assay::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(const Transformer& transformer, const Layout& layout,
                               Purpose purpose = Purpose::inference) {
    std::vector<std::string> list;
    for (const auto& obstacle : obstacles(transformer, layout, purpose)) {
        list.push_back(obstacle.text());
    }
    return list;
}

TEST(Layout, CountsDevices) {
    EXPECT_EQ((Layout{8, 2, 1, 1, 1}).devices(Purpose::inference), 16);
    EXPECT_EQ((Layout{1, 1, 8, 8, 1}).devices(Purpose::inference), 8);
    // Decode context parallelism takes ranks of the tensor group, training's takes its own.
    EXPECT_EQ((Layout{8, 1, 1, 1, 8}).devices(Purpose::inference), 8);
    EXPECT_EQ((Layout{8, 1, 1, 1, 8}).devices(Purpose::training), 64);
}

TEST(Layout, DividesExpertsByWhatExpertParallelismLeaves) {
    EXPECT_EQ((Layout{8, 1, 1, 2, 1}).expert_tensor(), 8);
    EXPECT_EQ((Layout{8, 1, 2, 1, 1}).expert_tensor(), 4);
    EXPECT_EQ((Layout{4, 1, 8, 2, 1}).expert_tensor(), 1);
    EXPECT_EQ((Layout{4, 1, 4, 8, 1}).expert_replicas(Purpose::training), 8);
    EXPECT_EQ((Layout{4, 1, 32, 8, 1}).expert_replicas(Purpose::training), 1);
    EXPECT_EQ((Layout{4, 1, 1, 8, 2}).replicas(Purpose::training), 16);
}

TEST(Layout, SaysItselfInWords) {
    EXPECT_EQ((Layout{}).text(), "one device");
    EXPECT_EQ((Layout{8, 2, 16, 2, 4}).text(), "TP 8 x PP 2 x DP 2 x EP 16 x CP 4");
}

TEST(StageLayers, AreEqualButForWhatIsOver) {
    EXPECT_THAT(stage_layers(80, 4), ElementsAre(20, 20, 20, 20));
    EXPECT_THAT(stage_layers(93, 2), ElementsAre(47, 46));
    EXPECT_THAT(stage_layers(61, 4), ElementsAre(15, 15, 16, 15));
    EXPECT_THAT(stage_layers(3, 4), ElementsAre(1, 1, 1, 0));
    for (int stages = 1; stages <= 93; ++stages) {
        const auto counts = stage_layers(93, stages);
        EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 93) << stages;
    }
}

TEST(Shares, ArePaddedOrReplicated) {
    EXPECT_DOUBLE_EQ(share_of_rank(96, 8), 1.0 / 8);
    EXPECT_DOUBLE_EQ(share_of_rank(25, 8), 4.0 / 25);
    EXPECT_DOUBLE_EQ(share_of_rank(8, 16), 1.0 / 8);
    EXPECT_DOUBLE_EQ(share_of_rank(0, 8), 1);
    // All ranks together hold at least the whole, and the whole alone where it divides.
    for (std::int64_t units = 1; units <= 130; ++units) {
        for (std::int64_t ways = 1; ways <= 130; ++ways) {
            const double all = share_of_rank(units, ways) * static_cast<double>(ways);
            EXPECT_GE(all, 1 - 1e-12);
            if (units % ways == 0) {
                EXPECT_NEAR(all, 1, 1e-12);
            }
        }
    }
}

TEST(Obstacles, NameTheDimension) {
    const auto odd = made_dense({.heads = 25, .kv_heads = 25});
    EXPECT_THAT(texts(odd, {8}), ElementsAre("25 attention heads don't divide by TP 8"));
    EXPECT_THAT(texts(odd, {5}), ElementsAre("2048 columns of a feed-forward layer don't divide by "
                                             "TP 5"));
    EXPECT_THAT(texts(made_dense({}), {1, 5}), ElementsAre("4 layers don't divide by PP 5"));
    const auto experts = made_latent({});
    EXPECT_THAT(texts(experts, {1, 1, 3, 3}), ElementsAre("16 experts don't divide by EP 3"));
    EXPECT_THAT(texts(made_latent({.width = 252}), {8, 1, 1}),
                ElementsAre("252 columns of an expert don't divide by TP 8",
                            "252 columns of the shared experts don't divide by TP 8"));
    EXPECT_THAT(texts(made_latent({.width = 252}), {8, 1, 2}),
                ElementsAre("252 columns of the shared experts don't divide by TP 8"));
}

// Fewer key-value heads than ranks are replicated, if they come out even.
TEST(Obstacles, AreNoneWhereHeadsAreReplicated) {
    const auto grouped = made_dense({.heads = 48, .kv_heads = 4});
    EXPECT_THAT(texts(grouped, {8}), IsEmpty());
    EXPECT_THAT(texts(grouped, {4}), IsEmpty());
    EXPECT_THAT(texts(made_dense({.heads = 48, .kv_heads = 4, .width = 2046}), {6}),
                ElementsAre("4 key-value heads don't divide by TP 6"));
    EXPECT_THAT(texts(made_k3(), {8}), IsEmpty());
    EXPECT_THAT(texts(made_k3(), {8, 1, 8}), IsEmpty());
    EXPECT_THAT(texts(made_k3(), {1, 1, 8, 8}), IsEmpty());
}

TEST(Obstacles, RefuseLayoutsWithoutMeaning) {
    const auto transformer = made_latent({});
    const auto look = [&](const Layout& layout) {
        return [&transformer, layout] { obstacles(transformer, layout, Purpose::inference); };
    };
    expect_error<UsageError>(look({0}), "--tp 0 is out of range", "1 to 131072");
    expect_error<UsageError>(look({1, 1, 1, -3}), "--dp -3 is out of range", "1 to 131072");
    expect_error<UsageError>(look({8, 1, 3}),
                             "--ep 3 neither divides --tp 8 nor is a multiple of it that divides "
                             "the 8 devices of a stage",
                             "spread");
    expect_error<UsageError>(look({4, 1, 1, 1, 3}), "--cp 3 doesn't divide --tp 4", "tensor group");
    EXPECT_THAT(texts(transformer, {4, 1, 1, 1, 3}, Purpose::training), IsEmpty());
}

}  // namespace
}  // namespace assay::model
