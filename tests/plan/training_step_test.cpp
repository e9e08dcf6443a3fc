#include "plan/training_step.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "model/flop.h"
#include "plan/planned_model.h"

namespace assay::plan {
namespace {

using model::Layout;

class TrainingStep : public testing::Test {
  protected:
    explicit TrainingStep(model::Training training = {})
        : model_(
              model::load_model(std::string(ASSAY_SOURCE_DIR) + "/data/models/llama3-8b.json", {})),
          holdings_(model::holdings_of(model_, false, true)) {
        use_.context = 8192;
        use_.training = training;
    }
    TrainingPrediction predicted(const Layout& layout, TrainingLoad load) const {
        const StepModel step(model_, holdings_, use_);
        return predict_training(step, layout, load, shipped_rates("h100"));
    }
    TrainingLoad load(std::int64_t global_batch) const {
        TrainingLoad load;
        load.sequence = 8192;
        load.global_batch = global_batch;
        load.flop_per_token =
            model::training_flop(model_.shape, model::flop_formula("semianalysis"), 8192).total();
        load.peak = 989.4e12;
        return load;
    }

    model::Model model_;
    model::Holdings holdings_;
    model::Use use_;
};

TEST_F(TrainingStep, MfuIsTheFormulasFlopOverThePeak) {
    const auto p = predicted({.data = 8}, load(32));
    EXPECT_EQ(p.micro_batches, 4);
    EXPECT_NEAR(p.tokens_per_s.value, 32 * 8192 / p.step_s.value, 1e-6);
    EXPECT_NEAR(p.mfu.value, p.tokens_per_s.value * 51.47e9 / (8 * 989.4e12), 1e-4 * p.mfu.value);
    EXPECT_LE(p.mfu.low, p.mfu.value);
    EXPECT_LE(p.mfu.value, p.mfu.high);
    EXPECT_LT(p.mfu.high, 1);
    // Llama-3 8B on H100s in public: 35 to 50 % by this formula.
    EXPECT_GT(p.mfu.high, 0.35);
    EXPECT_LT(p.mfu.low, 0.50);
}

TEST_F(TrainingStep, ThePipelineWaitsLessWithMoreMicroBatches) {
    const auto few = predicted({.pipeline = 4, .data = 2}, load(8));
    const auto many = predicted({.pipeline = 4, .data = 2}, load(128));
    EXPECT_EQ(few.micro_batches, 4);
    EXPECT_EQ(many.micro_batches, 64);
    EXPECT_LT(many.bubble, few.bubble);
    EXPECT_GT(many.tokens_per_s.value, few.tokens_per_s.value);
    EXPECT_EQ(predicted({.data = 8}, load(32)).bubble, 0);
}

TEST_F(TrainingStep, RecomputingEverythingIsAFourthForward) {
    const auto plain = predicted({.data = 8}, load(64));
    use_.training->recompute = model::Recompute::full;
    const auto again = predicted({.data = 8}, load(64));
    const double rest = plain.reduce_s + plain.optimizer_s;
    EXPECT_NEAR((again.step_s.value - rest) / (plain.step_s.value - rest), 4.0 / 3, 1e-6);
}

TEST_F(TrainingStep, OneReplicaReducesNothing) {
    EXPECT_EQ(predicted({.tensor = 8}, load(8)).reduce_s, 0);
    EXPECT_GT(predicted({.tensor = 4, .data = 2}, load(8)).reduce_s, 0);
    // Over two domains of eight half as many gradients take rails of less than a tenth.
    EXPECT_GT(predicted({.tensor = 8, .data = 2}, load(8)).reduce_s,
              3 * predicted({.tensor = 4, .data = 2}, load(8)).reduce_s);
}

TEST_F(TrainingStep, ZeroThreeGathersTheWeightsAgain) {
    use_.training->zero = 1;
    const auto one = predicted({.data = 64}, load(256));
    use_.training->zero = 3;
    const auto three = predicted({.data = 64}, load(256));
    // Four micro-batches, two passes each, and a gather is half of a reduction of as many bytes.
    EXPECT_NEAR(three.reduce_s / one.reduce_s, 1 + 4 * 2 * 0.5, 0.1);
    EXPECT_NEAR(three.optimizer_s, one.optimizer_s, 1e-9);
}

TEST_F(TrainingStep, ContextParallelismGathersKeysAndValues) {
    const auto together = predicted({.data = 8}, load(8));
    const auto divided = predicted({.data = 1, .context = 8}, load(8));
    // The same tokens on as many devices, and what is gathered between them.
    EXPECT_GT(divided.step_s.value - divided.reduce_s - divided.optimizer_s,
              together.step_s.value - together.reduce_s - together.optimizer_s);
}

TEST(TrainingExperts, SpreadOnesHaveNobodyToReduceWith) {
    const auto model =
        model::load_model(std::string(ASSAY_SOURCE_DIR) + "/data/models/mixtral-8x7b.json", {});
    const auto holdings = model::holdings_of(model, false, true);
    model::Use use;
    use.context = 4096;
    use.training = model::Training{};
    const StepModel step(model, holdings, use);
    TrainingLoad load;
    load.sequence = 4096;
    load.global_batch = 8;
    const auto whole = predict_training(step, {.data = 8}, load, shipped_rates("h100"));
    const auto spread =
        predict_training(step, {.expert = 8, .data = 8}, load, shipped_rates("h100"));
    // Experts are 45 of 47 B parameters.
    EXPECT_LT(spread.reduce_s, 0.1 * whole.reduce_s);
    EXPECT_GT(spread.reduce_s, 0);
    EXPECT_LT(spread.optimizer_s, 0.25 * whole.optimizer_s);
}

TEST_F(TrainingStep, FailuresTakeTheirShareOfTheDay) {
    auto at = load(2048);
    const auto p = predicted({.data = 1024}, at);
    EXPECT_NEAR(p.tokens_per_day.value, p.tokens_per_s.value * 86400 * (1 - p.loss.share), 1);
    at.failures = 38;
    EXPECT_GT(predicted({.data = 1024}, at).loss.share, p.loss.share);
}

TEST_F(TrainingStep, RefusesPartsOfAMicroBatch) {
    EXPECT_THROW(predicted({.data = 8}, load(12)), UsageError);
    EXPECT_THROW(predicted({.data = 8}, load(0)), UsageError);
}

}  // namespace
}  // namespace assay::plan
