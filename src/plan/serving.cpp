#include "plan/serving.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace assay::plan {

namespace {

// Chunks of a long prompt that are timed one by one; longer prompts are timed in larger ones.
constexpr double kMostChunks = 32;

struct Prefill {
    double latency = 0;    // of one request
    double occupancy = 0;  // of the slowest stage by one request
    StepTime time;
};

Prefill prefill(const StepModel& model, const model::Layout& layout, double input, double together,
                const Speeds& speeds, const ComputeTypes& types) {
    Prefill sum;
    const auto chunk =
        std::max(static_cast<double>(model.use().chunk), std::ceil(input / kMostChunks));
    for (double done = 0; done < input; done += chunk) {
        Batch batch;
        batch.sequences = together;
        batch.new_tokens = std::min(chunk, input - done);
        batch.context = done;
        batch.absorbed = false;
        const StepTime whole = pipeline_time(model, layout, batch, speeds, types);
        const double stage = slowest_stage(model, layout, batch, speeds, types);
        sum.time += whole;
        sum.occupancy += stage / together;
        // The pipeline fills once.
        const bool last = done + chunk >= input;
        sum.latency += last ? whole.total() : stage;
    }
    return sum;
}

double tokens_of_step(const std::optional<Speculation>& speculation) {
    return speculation ? speculation->acceptance : 1;
}

}  // namespace

Speculation parse_speculation(std::string_view text) {
    constexpr const char* kHint = "write --speculate drafts=7,acceptance=3.78,draft=0.1";
    Speculation speculation;
    bool drafts = false, acceptance = false;
    for (const auto& pair : split(text, ',')) {
        const auto sides = split(pair, '=');
        if (sides.size() != 2) {
            throw UsageError(fmt::format("--speculate: {} is no name=value", pair), kHint);
        }
        if (sides[0] == "drafts") {
            const auto count = parse_integer(sides[1], "drafts");
            if (count < 1 || count > 64) {
                throw UsageError(fmt::format("drafts={} is out of range", sides[1]),
                                 "give 1 to 64");
            }
            speculation.drafts = static_cast<int>(count);
            drafts = true;
        } else if (sides[0] == "acceptance") {
            speculation.acceptance = parse_number(sides[1], "acceptance");
            acceptance = true;
        } else if (sides[0] == "draft") {
            speculation.draft_share = parse_number(sides[1], "draft");
        } else {
            throw UsageError(fmt::format("--speculate has no {}", sides[0]), kHint);
        }
    }
    if (!drafts || !acceptance) {
        throw UsageError("--speculate needs drafts and acceptance", kHint);
    }
    if (!(speculation.acceptance >= 1 && speculation.acceptance <= speculation.drafts + 1)) {
        throw UsageError(fmt::format("acceptance={} is out of range", speculation.acceptance),
                         fmt::format("of {} drafts and the next token a step gives 1 to {}",
                                     speculation.drafts, speculation.drafts + 1));
    }
    if (!(speculation.draft_share >= 0 && speculation.draft_share <= 10)) {
        throw UsageError(fmt::format("draft={} is out of range", speculation.draft_share),
                         "give the draft model's share of a step's time, as 0.1");
    }
    return speculation;
}

Served serve(const StepModel& model, const model::Layout& layout, const Load& load,
             const Speeds& speeds, const ComputeTypes& types) {
    const auto replicas = static_cast<double>(layout.data);
    const double requests = static_cast<double>(load.batch) / replicas;  // of one replica
    const auto input = static_cast<double>(load.input);
    const auto output = static_cast<double>(load.output);

    Served served;
    const Prefill alone = prefill(model, layout, input, 1, speeds, types);
    const double fitting = std::floor(static_cast<double>(model.use().chunk) / input);
    const double together = std::clamp(fitting, 1.0, std::max(1.0, std::floor(requests)));
    const Prefill shared =
        together > 1 ? prefill(model, layout, input, together, speeds, types) : alone;
    served.ttft_alone_s = alone.latency;
    served.ttft_s = alone.latency + std::max(0.0, requests - 1) / 2 * shared.occupancy;
    served.prefill = alone.time;
    served.prefill_per_s = input / shared.occupancy * replicas;

    Batch batch;
    batch.sequences = std::max(1.0, requests / layout.pipeline);
    batch.context = input + output / 2;
    double draft = 0;
    if (load.speculation) {
        draft = load.speculation->draft_share *
                pipeline_time(model, layout, batch, speeds, types).total();
        batch.new_tokens = load.speculation->drafts + 1;
        batch.all_logits = true;
    }
    served.decode = pipeline_time(model, layout, batch, speeds, types);
    served.tpot_s = (served.decode.total() + draft) / tokens_of_step(load.speculation);
    served.decode_per_s = static_cast<double>(load.batch) / served.tpot_s;
    // A pipeline that fewer requests than stages don't fill waits for each as a whole.
    const double prefills = std::max(std::max(1.0, requests) * shared.occupancy, alone.latency);
    const double turn = prefills + std::max(output - 1, 1.0) * served.tpot_s;
    served.output_per_s = requests * output / turn * replicas;
    served.total_per_s = served.output_per_s * (input + output) / output;
    return served;
}

Range Prediction::per_user() const {
    return {1 / tpot_s.value, 1 / tpot_s.high, 1 / tpot_s.low};
}

Range Prediction::per_device() const {
    return output_per_s.scaled(1 / static_cast<double>(devices));
}

Prediction predict(const StepModel& model, const model::Layout& layout, const Load& load,
                   const Rates& rates) {
    const ComputeTypes types = compute_types(model, rates);
    const Served slow = serve(model, layout, load, speeds_at(rates, Edge::low), types);
    const Served middle = serve(model, layout, load, speeds_at(rates, Edge::middle), types);
    const Served fast = serve(model, layout, load, speeds_at(rates, Edge::high), types);

    Prediction prediction;
    prediction.layout = layout;
    prediction.devices = layout.devices(model::Purpose::inference);
    prediction.load = load;
    const auto time = [&](double Served::*of) {
        return Range{middle.*of, fast.*of, slow.*of};  // low and high of the figure itself
    };
    const auto rate = [&](double Served::*of) { return Range{middle.*of, slow.*of, fast.*of}; };
    prediction.ttft_s = time(&Served::ttft_s);
    prediction.ttft_alone_s = time(&Served::ttft_alone_s);
    prediction.tpot_s = time(&Served::tpot_s);
    prediction.prefill_per_s = rate(&Served::prefill_per_s);
    prediction.decode_per_s = rate(&Served::decode_per_s);
    prediction.output_per_s = rate(&Served::output_per_s);
    prediction.total_per_s = rate(&Served::total_per_s);
    prediction.prefill = middle.prefill;
    prediction.decode = middle.decode;
    return prediction;
}

}  // namespace assay::plan
