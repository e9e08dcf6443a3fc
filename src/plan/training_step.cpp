#include "plan/training_step.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "model/stage.h"

namespace assay::plan {

namespace {

// Of what is reduced and gathered over replicas, the part that computing doesn't hide.
Rate exposed() {
    return {0.5, 1.0, 0.1, "share of the replicas' collectives that shows, assumed"};
}

struct Parts {
    StepTime forward;
    double pipeline = 0, bubble = 0, reduce = 0, optimizer = 0;
    double total() const { return pipeline + reduce + optimizer; }
};

// Parameters of a device of the fullest stage that as many others hold too.
struct Held {
    double parameters = 0;
    std::int64_t replicas = 1;
};
struct Slices {
    Held experts, other;
};

Slices slices_of(const model::Holdings& holdings, const model::Layout& layout) {
    Slices fullest;
    for (int stage = 0; stage < layout.pipeline; ++stage) {
        Slices slices{.experts = {0, layout.expert_replicas(model::Purpose::training)},
                      .other = {0, layout.replicas(model::Purpose::training)}};
        model::for_each_piece(holdings, layout, stage, [&](const model::Piece& piece) {
            const bool routed = piece.divided == model::Piece::Divided::by_expert;
            (routed ? slices.experts : slices.other).parameters +=
                piece.parameters * model::share_of_device(piece, layout);
        });
        if (stage == 0 || slices.experts.parameters + slices.other.parameters >
                              fullest.experts.parameters + fullest.other.parameters) {
            fullest = slices;
        }
    }
    return fullest;
}

// Keys and values of a micro-batch's whole sequences, gathered over the context group in each layer
// that attends; forward, and their gradients backward.
double context_time(const StepModel& model, const model::Layout& layout, const TrainingLoad& load,
                    const work::Fabric& fabric) {
    if (layout.context == 1) return 0;
    double seconds = 0;
    for (const auto& group : model.groups()) {
        double elements = 0;
        for (const auto& entry : group.layer->mixer.cache) {
            elements += static_cast<double>(entry.elements) / static_cast<double>(entry.stride) *
                        (entry.heads > 0 ? model::share_of_rank(entry.heads, layout.tensor) : 1);
        }
        constexpr double kBytes = 2;
        const double bytes =
            elements * kBytes * static_cast<double>(load.sequence * load.micro_batch);
        seconds +=
            static_cast<double>(group.indexes.size()) *
            (work::collective_time(work::Collective::all_gather, bytes, layout.context, fabric)
                 .seconds +
             work::collective_time(work::Collective::reduce_scatter, bytes, layout.context, fabric)
                 .seconds);
    }
    return seconds / layout.pipeline;
}

Parts parts(const StepModel& model, const model::Layout& layout, const TrainingLoad& load,
            std::int64_t micro_batches, const Speeds& speeds, const ComputeTypes& types,
            Edge edge) {
    const model::Training& training = *model.use().training;
    // Context parallelism divides a sequence's tokens over devices of its own.
    model::Layout inner = layout;
    inner.context = 1;
    Batch batch;
    batch.sequences = static_cast<double>(load.micro_batch) / layout.context;
    batch.new_tokens = static_cast<double>(load.sequence);
    batch.all_logits = true;
    batch.samples = false;
    batch.absorbed = false;

    Parts sum;
    sum.forward = pipeline_time(model, inner, batch, speeds, types);
    const bool recomputes = training.recompute == model::Recompute::full;
    double stage = 0;
    for (int i = 0; i < layout.pipeline; ++i) {
        const StepTime time = stage_time(model, inner, i, batch, speeds, types);
        const double computing = time.total() - time.collectives;
        stage = std::max(
            stage, computing * (recomputes ? 4 : 3) + time.collectives * (recomputes ? 3 : 2));
    }
    work::Fabric beyond = speeds.fabric;  // what tensor parallelism leaves of a domain
    beyond.domain = std::max<std::int64_t>(1, beyond.domain / layout.tensor);
    stage += context_time(model, layout, load, beyond);
    const auto m = static_cast<double>(micro_batches);
    const double p = layout.pipeline;
    sum.pipeline = (m + p - 1) * stage;
    sum.bubble = (p - 1) / (m + p - 1);

    beyond.domain = std::max<std::int64_t>(1, beyond.domain / layout.context);
    const auto slices = slices_of(model.holdings(), layout);
    const auto& states = training.optimizer;
    const double moved = 2 * states.optimizer() + states.gradients + states.weights + states.copies;
    for (const Held& held : {slices.experts, slices.other}) {
        const auto over = [&](work::Collective collective, double bytes) {
            return at(exposed(), edge) *
                   work::collective_time(collective, bytes, held.replicas, beyond).seconds;
        };
        sum.reduce += over(work::Collective::all_reduce, held.parameters * states.gradients);
        if (training.zero == 3) {
            sum.reduce +=
                2 * m * over(work::Collective::all_gather, held.parameters * states.weights);
        }
        const double divided = training.zero > 0 ? static_cast<double>(held.replicas) : 1;
        sum.optimizer += held.parameters * moved / divided / speeds.memory;
    }
    return sum;
}

}  // namespace

TrainingPrediction predict_training(const StepModel& model, const model::Layout& layout,
                                    const TrainingLoad& load, const Rates& rates) {
    const std::int64_t at_once = load.micro_batch * layout.data;
    if (load.global_batch < 1 || load.global_batch % at_once != 0) {
        throw UsageError(
            fmt::format("a global batch of {} isn't whole micro-batches of {} on {} replicas",
                        load.global_batch, load.micro_batch, layout.data),
            fmt::format("give a multiple of {}", at_once));
    }
    TrainingPrediction prediction;
    prediction.layout = layout;
    prediction.devices = layout.devices(model::Purpose::training);
    prediction.global_batch = load.global_batch;
    prediction.micro_batches = load.global_batch / at_once;

    const ComputeTypes types = compute_types(model, rates);
    const auto made = [&](Edge edge) {
        return parts(model, layout, load, prediction.micro_batches, speeds_at(rates, edge), types,
                     edge);
    };
    const Parts middle = made(Edge::middle);
    const double slow = made(Edge::low).total(), fast = made(Edge::high).total();
    prediction.forward = middle.forward;
    prediction.bubble = middle.bubble * middle.pipeline / middle.total();
    prediction.reduce_s = middle.reduce;
    prediction.optimizer_s = middle.optimizer;
    prediction.step_s = {middle.total(), fast, slow};

    const auto tokens = static_cast<double>(load.global_batch * load.sequence);
    prediction.tokens_per_s = {tokens / middle.total(), tokens / slow, tokens / fast};
    if (load.peak > 0) {
        prediction.mfu = prediction.tokens_per_s.scaled(
            load.flop_per_token / (load.peak * static_cast<double>(prediction.devices)));
    }
    const auto nodes = (prediction.devices + kDevicesOfNode - 1) / kDevicesOfNode;
    prediction.loss = expected_loss({.mtbf = job_mtbf_hours(nodes, load.failures) * 3600,
                                     .restart = load.restart_s,
                                     .write = load.checkpoint_s});
    constexpr double kDay = 86'400;
    prediction.tokens_per_day = prediction.tokens_per_s.scaled(kDay * (1 - prediction.loss.share));
    return prediction;
}

}  // namespace assay::plan
