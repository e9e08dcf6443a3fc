#include "model/memory.h"

#include <gmock/gmock.h>

#include "base/expect_error.h"
#include "model/division.h"
#include "support/made_transformer.h"

namespace assay::model {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

Use serving(std::int64_t context, std::int64_t batch = 1) {
    Use use;
    use.context = context;
    use.batch = batch;
    return use;
}

Use training(int zero, Recompute recompute = Recompute::nothing) {
    Use use = serving(8192);
    use.training = Training{find_optimizer_layout("megatron"), zero, recompute};
    return use;
}

Holdings held(const Transformer& transformer) {
    return holdings_of(transformer, stored_bf16, true);
}

const Holdings& k3() {
    static const auto kHeld = holdings_of(made_k3(), stored_mxfp4_experts, false);
    return kHeld;
}

// Of one request, on one device.
double cache_of(const Holdings& holdings, std::int64_t context) {
    return memory_of(holdings, {}, serving(context), 0).kv_cache;
}

// Of every device together.
double weights_of_all(const Holdings& holdings, const Layout& layout) {
    double sum = 0;
    for (int stage = 0; stage < layout.pipeline; ++stage) {
        sum += memory_of(holdings, layout, serving(1), stage).weights *
               static_cast<double>(layout.stage_devices(Purpose::inference));
    }
    return sum;
}

TEST(Weights, OfPublishedModels) {
    EXPECT_NEAR(held(made_llama2_70b()).bytes(), 2 * 68.977e9, 2e6);
    EXPECT_NEAR(held(made_bloom_176b()).bytes(), 352e9, 1e9);
    EXPECT_NEAR(held(made_llama3_8b()).parameters(), 8'030'261'248, 1);
}

TEST(Weights, OfOneDeviceAreTheWhole) {
    for (const auto& holdings : {held(made_llama3_8b()), held(made_latent({})), k3()}) {
        EXPECT_DOUBLE_EQ(memory_of(holdings, {}, serving(1), 0).weights, holdings.bytes());
    }
}

TEST(Weights, AllDevicesHoldTheWholeOnceButForWhatIsReplicated) {
    // Norms alone are on every rank.
    const auto transformer = made_llama3_8b();
    const auto holdings = held(transformer);
    const double norms = 2.0 * 4096 * (2 * 32 + 1);
    EXPECT_NEAR(weights_of_all(holdings, {8}), holdings.bytes() + 7 * norms, 1);
    EXPECT_NEAR(weights_of_all(holdings, {8, 4}), holdings.bytes() + 7 * norms, 1);
    EXPECT_NEAR(weights_of_all(holdings, {1, 32}), holdings.bytes(), 1);
    EXPECT_NEAR(weights_of_all(holdings, {1, 1, 1, 3}), 3 * holdings.bytes(), 1);
    // With 16 ranks each of 8 key-value heads is held twice.
    const double kv = 2.0 * 32 * 2 * 8 * 128 * 4096;
    EXPECT_NEAR(weights_of_all(holdings, {16}), holdings.bytes() + 15 * norms + kv, 1);
}

TEST(Weights, MoreTensorParallelismNeverNeedsMore) {
    for (const auto& holdings :
         {held(made_llama3_8b()), held(made_bloom_176b()), held(made_latent({})), k3(),
          held(made_dense({.heads = 25, .kv_heads = 5, .width = 1001, .vocabulary = 50257}))}) {
        for (int pipeline : {1, 2}) {
            for (int stage = 0; stage < pipeline; ++stage) {
                double before = holdings.bytes();
                for (int tensor = 1; tensor <= 64; ++tensor) {
                    const auto memory = memory_of(holdings, {tensor, pipeline}, serving(1), stage);
                    EXPECT_LE(memory.weights, before) << tensor;
                    before = memory.weights;
                }
            }
        }
    }
}

TEST(Weights, ExpertsAreSpreadOverReplicasToo) {
    const auto holdings = held(made_latent({}));
    const double experts = 2.0 * 2 * 16 * 3 * 256 * 512;
    EXPECT_NEAR(memory_of(holdings, {1, 1, 8, 8}, serving(1), 0).weights,
                holdings.bytes() - experts * 7 / 8, 1);
    EXPECT_NEAR(memory_of(holdings, {1, 1, 1, 8}, serving(1), 0).weights, holdings.bytes(), 1);
    // Spread or divided, a device holds as much of them.
    EXPECT_NEAR(memory_of(holdings, {8, 1, 8}, serving(1), 0).weights,
                memory_of(holdings, {8, 1, 1}, serving(1), 0).weights, 1);
}

TEST(Weights, AHeadTiedToTheEmbeddingIsCopiedToTheLastStage) {
    const auto tied = held(made_dense({.tied = true}));
    const double embedding = 2.0 * 1000 * 512;
    EXPECT_NEAR(weights_of_all(tied, {1, 1}), tied.bytes(), 1);
    EXPECT_NEAR(weights_of_all(tied, {1, 4}), tied.bytes() + embedding, 1);
}

TEST(Weights, PredictorsAreHeldByTheLastStageWhereAskedFor) {
    auto transformer = made_dense({});
    transformer.predictors = {transformer.layers[0]};
    const auto without = holdings_of(transformer, stored_bf16, false);
    const auto with = holdings_of(transformer, stored_bf16, true);
    const double layer = 2.0 * (4 * 512 * 512 + 3 * 512 * 2048 + 2 * 512);
    EXPECT_NEAR(with.bytes() - without.bytes(), layer, 1);
    const auto grown = [&](int stage) {
        return memory_of(with, {1, 2}, serving(100), stage).weights -
               memory_of(without, {1, 2}, serving(100), stage).weights;
    };
    EXPECT_NEAR(grown(0), 0, 1);
    EXPECT_NEAR(grown(1), layer, 1);
    EXPECT_GT(cache_of(with, 100), cache_of(without, 100));
}

// 1.561 TB in one machine of 8: about 195 GB each.
TEST(Weights, OfK3OnEightDevices) {
    EXPECT_NEAR(k3().parameters(), 2779.5e9, 0.011 * 2779.5e9);
    const double each = memory_of(k3(), {8}, serving(1), 0).weights;
    EXPECT_NEAR(each, 195e9, 0.03 * 195e9);
    EXPECT_GE(each, k3().bytes() / 8);
}

TEST(Cache, OfGroupedHeadsIsDividedUntilThereAreNoMore) {
    const auto holdings = held(made_llama3_8b());
    const auto cache = [&](const Layout& layout) {
        return memory_of(holdings, layout, serving(1000), 0).kv_cache;
    };
    EXPECT_DOUBLE_EQ(cache({}), 131'072e3);
    EXPECT_DOUBLE_EQ(cache({8}), 131'072e3 / 8);
    EXPECT_DOUBLE_EQ(cache({32}), 131'072e3 / 8);
    // Tokens divided over the ranks that would repeat a head.
    EXPECT_DOUBLE_EQ(cache({32, 1, 1, 1, 4}), 131'072e3 / 32);
    EXPECT_DOUBLE_EQ(cache({8, 4}), 131'072e3 / 8 / 4);
}

TEST(Cache, OfALatentIsReplicatedByTensorParallelismAlone) {
    const double token = 24 * 576 * 2;
    const auto cache = [&](const Layout& layout) {
        return memory_of(k3(), layout, serving(172'000, 8), 0).kv_cache;
    };
    // 4.76 GB a request of 172k tokens on each rank, half in fp8.
    EXPECT_DOUBLE_EQ(cache({8}), 8 * 172e3 * token);
    EXPECT_NEAR(cache({8}) / 8, 4.76e9, 0.005e9);
    auto fp8 = serving(172'000);
    fp8.cache = cache_type("fp8");
    EXPECT_NEAR(memory_of(k3(), {8}, fp8, 0).kv_cache, 2.38e9, 0.005e9);
    // Divided by replicas of the attention, by tokens, and by stages.
    EXPECT_DOUBLE_EQ(cache({1, 1, 8, 8}), 172e3 * token);
    EXPECT_DOUBLE_EQ(cache({8, 1, 1, 1, 8}), 172e3 * token);
    EXPECT_NEAR(cache({1, 8}), 172e3 * token, 0.3 * 172e3 * token);
}

TEST(Cache, OfAWindowStopsGrowing) {
    const auto holdings = held(made_dense({.window = 128}));
    EXPECT_DOUBLE_EQ(cache_of(holdings, 100), 100.0 * 4 * 1024 * 2);
    EXPECT_DOUBLE_EQ(cache_of(holdings, 100'000), 128.0 * 4 * 1024 * 2);
}

TEST(Cache, OfStridesCountsWholeEntries) {
    auto transformer = made_dense({.layers = 1});
    transformer.layers[0].mixer.cache = {{.what = "compressed", .elements = 10, .stride = 4}};
    const auto holdings = held(transformer);
    EXPECT_DOUBLE_EQ(cache_of(holdings, 9), 2 * 10 * 2);
    EXPECT_DOUBLE_EQ(cache_of(holdings, 3), 0);
}

// 449 MB a request with the convolution in bf16; all in fp32 is 464.6 MB.
TEST(State, IsDividedByHeadsAndKnowsNoContext) {
    EXPECT_NEAR(memory_of(k3(), {}, serving(1), 0).state, 464.6e6, 0.1e6);
    const auto state = [&](std::int64_t context, const Layout& layout) {
        return memory_of(k3(), layout, serving(context), 0).state;
    };
    EXPECT_NEAR(state(1, {8}), 58e6, 0.1e6);
    EXPECT_DOUBLE_EQ(state(1, {8}), state(1 << 20, {8}));
}

TEST(Requests, AreSharedByReplicas) {
    const auto holdings = held(made_dense({}));
    const auto cache = [&](std::int64_t batch, int data) {
        return memory_of(holdings, {1, 1, 1, data}, serving(100, batch), 0).kv_cache;
    };
    EXPECT_DOUBLE_EQ(cache(8, 4), cache(2, 1));
    EXPECT_DOUBLE_EQ(cache(9, 4), cache(3, 1));
}

// 16 bytes a parameter of Llama-3-8B: 128.5 GB (the classic layout); 12: 96.4; 8: 64.2; 6: 48.
TEST(Training, HoldsAsManyBytesAParameterAsItsLayoutSays) {
    const auto holdings = held(made_llama3_8b());
    const auto states = [&](const char* layout) {
        auto use = training(0);
        use.training->optimizer = find_optimizer_layout(layout);
        const auto memory = memory_of(holdings, {}, use, 0);
        return memory.weights + memory.gradients + memory.optimizer;
    };
    EXPECT_NEAR(states("megatron"), 128.5e9, 0.05e9);
    EXPECT_NEAR(states("megatron-fp32-grads"), 8'030'261'248 * 18.0, 1);
    EXPECT_NEAR(states("bf16-moments"), 96.4e9, 0.05e9);
    EXPECT_NEAR(states("bf16-moments-master"), 96.4e9, 0.05e9);
    EXPECT_NEAR(states("bf16"), 64.2e9, 0.05e9);
    EXPECT_NEAR(states("8bit-master"), 80.6e9, 0.1e9);
    EXPECT_NEAR(states("8bit"), 48.4e9, 0.1e9);
    expect_error<UsageError>([] { find_optimizer_layout("adamw"); },
                             "unknown optimizer layout \"adamw\"", "megatron");
}

TEST(Training, ZeroStagesDivideOneThingMoreEach) {
    const auto holdings = held(made_llama3_8b());
    const double parameters = holdings.parameters();
    const auto at = [&](int zero) { return memory_of(holdings, {1, 1, 1, 8}, training(zero), 0); };
    EXPECT_DOUBLE_EQ(at(0).optimizer, parameters * 12);
    EXPECT_DOUBLE_EQ(at(1).optimizer, parameters * 12 / 8);
    EXPECT_DOUBLE_EQ(at(1).gradients, parameters * 2);
    EXPECT_DOUBLE_EQ(at(2).gradients, parameters * 2 / 8);
    EXPECT_DOUBLE_EQ(at(2).weights, parameters * 2);
    EXPECT_DOUBLE_EQ(at(3).weights, parameters * 2 / 8);
    // One layer at work and one on its way.
    EXPECT_NEAR(at(3).workspace - at(2).workspace, 2 * 2 * 218'112'000.0, 1);
}

TEST(Training, ZeroStagesNeverHoldMore) {
    for (const auto& holdings : {held(made_llama3_8b()), held(made_latent({}))}) {
        for (const Layout layout : {Layout{}, Layout{1, 1, 1, 8}, Layout{2, 2, 1, 4},
                                    Layout{2, 1, 8, 4}, Layout{2, 1, 2, 4, 2}}) {
            for (int stage = 0; stage < layout.pipeline; ++stage) {
                double before = 1e18;
                for (int zero = 0; zero <= 3; ++zero) {
                    const auto memory = memory_of(holdings, layout, training(zero), stage);
                    const double states = memory.weights + memory.gradients + memory.optimizer;
                    EXPECT_LE(states, before) << layout.text() << " ZeRO " << zero;
                    before = states;
                }
            }
        }
    }
}

// Experts that are spread over the replicas have none to divide their states over.
TEST(Training, ZeroDividesExpertsOverTheirOwnReplicas) {
    const auto transformer = made_latent({});
    const auto holdings = held(transformer);
    const double experts = 2.0 * 16 * 3 * 256 * 512;
    const double rest = holdings.parameters() - experts;
    EXPECT_NEAR(memory_of(holdings, {1, 1, 8, 8}, training(1), 0).optimizer,
                12 * (rest / 8 + experts / 8), 1);
    EXPECT_NEAR(memory_of(holdings, {1, 1, 1, 8}, training(1), 0).optimizer,
                12 * (rest / 8 + experts / 8), 1);
    EXPECT_NEAR(memory_of(holdings, {1, 1, 8, 8}, training(0), 0).optimizer,
                12 * (rest + experts / 8), 1);
}

// Llama-3-8B: about 138 KB a token and layer with nothing recomputed, 94 KB without norms and the
// non-linearity's output.
TEST(Training, ActivationsOfLlama) {
    const auto holdings = held(made_llama3_8b());
    const double logits = 4.0 * 128'256;
    const auto of_layer = [&](Recompute recompute) {
        const auto memory = memory_of(holdings, {}, training(0, recompute), 0);
        return (memory.activations / 8192 - logits) / 32;
    };
    EXPECT_DOUBLE_EQ(of_layer(Recompute::nothing), 139'264);
    EXPECT_NEAR(of_layer(Recompute::norms), 94e3, 0.5e3);
    EXPECT_DOUBLE_EQ(of_layer(Recompute::full), 2 * 4096 + 139'264.0 / 32);
}

TEST(Training, StagesKeepAsManyMicroBatchesAsAreUnderWay) {
    const auto holdings = held(made_dense({.layers = 8}));
    const auto activations = [&](int stage) {
        return memory_of(holdings, {1, 4}, training(0), stage).activations;
    };
    const double last = activations(3) - 8192.0 * 4 * 1000;
    EXPECT_DOUBLE_EQ(activations(0), 4 * last);
    EXPECT_DOUBLE_EQ(activations(1), 3 * last);
}

TEST(Training, TokensAreDividedByContextParallelism) {
    const auto holdings = held(made_llama3_8b());
    EXPECT_DOUBLE_EQ(memory_of(holdings, {1, 1, 1, 1, 4}, training(0), 0).activations * 4,
                     memory_of(holdings, {}, training(0), 0).activations);
}

TEST(Divisions, SayWhatIsReplicated) {
    const auto list = divisions(k3(), {8}, serving(1000), 0);
    EXPECT_THAT(list, Contains(Field(&Division::how, "each divided by 8")));
    double on_device = 0;
    for (const auto& division : list) {
        if (division.what.starts_with("cache")) {
            EXPECT_EQ(division.how, "replicated on each of 8");
            EXPECT_DOUBLE_EQ(division.on_device, division.whole);
        } else if (division.what != "recurrent state") {
            on_device += division.on_device;
        }
    }
    EXPECT_NEAR(on_device, memory_of(k3(), {8}, serving(1000), 0).weights, 1e3);
}

TEST(Divisions, SayHowEachIsDivided) {
    const auto hows = [](const Transformer& transformer, const Layout& layout) {
        std::map<std::string, std::vector<std::string>> words;
        for (const auto& division : divisions(held(transformer), layout, serving(100), 0)) {
            words[division.what].push_back(division.how);
        }
        return words;
    };
    auto grouped = hows(made_dense({.kv_heads = 2}), {8});
    EXPECT_THAT(grouped["attention"],
                ElementsAre("divided by 8", "2 on 8 ranks: each held 4 times"));
    EXPECT_THAT(grouped["cache: key and value"], ElementsAre("2 on 8 ranks: each held 4 times"));
    EXPECT_THAT(grouped["norms"], ElementsAre("replicated on each of 8"));
    auto padded = hows(made_dense({.vocabulary = 1001}), {8});
    EXPECT_THAT(padded["embedding"], ElementsAre("1001 padded to 1008, divided by 8"));
    auto spread = hows(made_latent({}), {2, 1, 8, 4});
    EXPECT_THAT(spread["experts"], ElementsAre("replicated on each of 2", "2 on each of 8"));
    auto part = hows(made_latent({}), {8, 1, 2});
    EXPECT_THAT(part["experts"],
                ElementsAre("replicated on each of 8", "8 on each of 2, each divided by 4"));
    auto tokens = hows(made_latent({}), {8, 1, 1, 1, 8});
    EXPECT_THAT(tokens["cache: latent"], ElementsAre("whole, tokens divided by 8"));
    auto alone = hows(made_latent({}), {});
    EXPECT_THAT(alone["experts"], ElementsAre("whole"));
}

TEST(Heads, OfK3ArePaddedForTheKernel) {
    const auto list = heads_of_rank(k3(), {8});
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].what, "recurrence");
    EXPECT_FALSE(list[0].kernel_pads_to);
    EXPECT_EQ(list[1].what, "MLA");
    EXPECT_EQ(list[1].of_rank, 12);
    EXPECT_EQ(list[1].kernel_pads_to, 16);
    EXPECT_EQ(list[1].added, 0);
    EXPECT_FALSE(heads_of_rank(k3(), {2})[1].kernel_pads_to);
}

TEST(Heads, ThatDontDivideAreFilledUp) {
    const auto list = heads_of_rank(held(made_dense({.heads = 25, .kv_heads = 25})), {8});
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].of_rank, 4);
    EXPECT_EQ(list[0].added, 7);
    EXPECT_FALSE(list[0].kernel_pads_to);
}

TEST(Training, HoldsWhatLiesBesideTheLanguageModelFrozen) {
    auto holdings = held(made_llama3_8b());
    const Layout layout{1, 2, 1, 2};
    const auto without = memory_of(holdings, layout, training(3), 0);
    const double rest = memory_of(holdings, layout, training(3), 1).total();
    holdings.beside = 1e9;
    const auto with = memory_of(holdings, layout, training(3), 0);
    EXPECT_DOUBLE_EQ(with.weights, without.weights + 1e9);
    EXPECT_DOUBLE_EQ(with.total(), without.total() + 1e9);
    EXPECT_DOUBLE_EQ(memory_of(holdings, layout, training(3), 1).total(), rest);
    EXPECT_THAT(divisions(holdings, layout, training(3), 0),
                Contains(Field(&Division::what, "beside the language model, frozen")));
}

}  // namespace
}  // namespace assay::model
