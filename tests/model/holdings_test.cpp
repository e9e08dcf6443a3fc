#include "model/holdings.h"

#include <gmock/gmock.h>

#include "support/made_transformer.h"

namespace assay::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A model of 16 bits with a tower, scales counted in the tensors, and what a checkpoint repeats.
Model model_with_extras() {
    Model model{made_dense({}), {}};
    model.shape.extras = {{.what = "vision tower", .parameters = 1'000'000, .tower = true},
                          {"block scales", 5'000, true},
                          {"embedding stored again", 700'000, false, true}};
    model.shape.predictors = {model.shape.layers[0]};
    return model;
}

TEST(Holdings, CountWhatALayoutDividesAlikeOnce) {
    const auto transformer = made_latent({.linear_layers = 6});
    const auto holdings = holdings_of(transformer, stored_bf16, false);
    double parameters = 0;
    std::size_t tensors = 0, pieces = 0;
    const auto add = [&](const std::vector<Tensor>& list) {
        for (const auto& tensor : list) parameters += static_cast<double>(tensor.parameters());
    };
    add(transformer.input);
    add(transformer.output);
    for (std::size_t i = 0; i < transformer.layers.size(); ++i) {
        add(transformer.layers[i].tensors);
        tensors += transformer.layers[i].tensors.size();
        pieces += holdings.layers[i].pieces.size();
    }
    EXPECT_DOUBLE_EQ(holdings.parameters(), parameters);
    EXPECT_DOUBLE_EQ(holdings.bytes(), 2 * parameters);
    EXPECT_LT(pieces, tensors);
}

TEST(Holdings, HoldATowerButNotWhatACheckpointRepeats) {
    const auto model = model_with_extras();
    const auto holdings = holdings_of(model, false, false);
    const double language = 2 * holdings.parameters();
    EXPECT_DOUBLE_EQ(holdings.beside, 2e6);
    EXPECT_DOUBLE_EQ(holdings.bytes(), language + 2e6);
    EXPECT_THAT(holdings.left_out, ElementsAre(HasSubstr("multi-token prediction")));
    const auto text = holdings_of(model, true, true);
    EXPECT_DOUBLE_EQ(text.beside, 0);
    EXPECT_THAT(text.left_out, ElementsAre("vision tower, 1000000 parameters"));
    EXPECT_EQ(text.predictors.size(), 1u);
    EXPECT_THAT(holdings_of(model, true, false).left_out, IsEmpty());
}

// Of Llama-3-8B: queries, keys, values and attention's output; gate, up and their product.
// What the language model needs is no tower, and both sums of bytes are of the same type.
TEST(Holdings, KeepTablesOfTheLanguageModelAndTheirType) {
    auto model = model_with_extras();
    model.shape.extras.push_back({"tables of routing by token", 500});
    model.storage.plain.bits = 32;
    EXPECT_DOUBLE_EQ(holdings_of(model, false, true).beside, 4 * 500);
    EXPECT_DOUBLE_EQ(holdings_of(model, false, false).beside + 4 * 700'000,
                     weight_bytes(model.shape, model.storage).extras);
    const auto shipped = holdings_of(load_model("deepseek-v4-flash"), true, true);
    EXPECT_DOUBLE_EQ(shipped.beside, 2 * 3 * 129'280 * 6.0);
    EXPECT_THAT(shipped.left_out, IsEmpty());
}

TEST(Holdings, KnowWhatAProjectionMakes) {
    const auto holdings = holdings_of(made_llama3_8b(), stored_bf16, false);
    const auto& layer = holdings.layers[0];
    EXPECT_DOUBLE_EQ(layer.mixing.divided, 4096 + 2 * 1024 + 4096);
    EXPECT_DOUBLE_EQ(layer.feeding.divided, 3 * 14336);
    EXPECT_DOUBLE_EQ(layer.feeding.activation, 14336);
    EXPECT_DOUBLE_EQ(layer.mixing.whole, 0);
    EXPECT_EQ(layer.sublayers, 2);
}

// Two of sixteen experts and one shared; latent attention's down projections are on every rank.
TEST(Holdings, CountTheExpertsThatATokenUses) {
    const auto holdings = holdings_of(made_latent({}), stored_bf16, false);
    const auto& layer = holdings.layers[0];
    EXPECT_DOUBLE_EQ(layer.feeding.divided, (2 + 1) * 3 * 256);
    EXPECT_DOUBLE_EQ(layer.feeding.routed, 2 * 512);
    EXPECT_DOUBLE_EQ(layer.mixing.whole, 1536 + 576);
}

}  // namespace
}  // namespace assay::model
