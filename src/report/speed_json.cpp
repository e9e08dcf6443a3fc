#include "report/plan_parts.h"
#include "report/speed.h"

namespace assay::report {

namespace {

Json to_json(const plan::Range& range) {
    return {{"value", json_number(range.value)},
            {"low", json_number(range.low)},
            {"high", json_number(range.high)}};
}

Json to_json(const plan::StepTime& time) {
    return {{"products", json_number(time.products)},
            {"experts", json_number(time.experts)},
            {"attention", json_number(time.attention)},
            {"recurrence", json_number(time.recurrence)},
            {"collectives", json_number(time.collectives)},
            {"overhead", json_number(time.overhead)},
            {"waiting_for_memory", json_number(time.memory_bound)},
            {"total", json_number(time.total())}};
}

Json to_json(const plan::Prediction& prediction) {
    return {{"layout", layout_json(prediction.layout)},
            {"devices", prediction.devices},
            {"batch", prediction.load.batch},
            {"ttft_s", to_json(prediction.ttft_s)},
            {"ttft_alone_s", to_json(prediction.ttft_alone_s)},
            {"tpot_s", to_json(prediction.tpot_s)},
            {"prefill_tokens_per_s", to_json(prediction.prefill_per_s)},
            {"decode_tokens_per_s", to_json(prediction.decode_per_s)},
            {"output_tokens_per_s", to_json(prediction.output_per_s)},
            {"total_tokens_per_s", to_json(prediction.total_per_s)},
            {"tokens_per_s_per_user", to_json(prediction.per_user())},
            {"output_tokens_per_s_per_device", to_json(prediction.per_device())},
            {"prefill_s", to_json(prediction.prefill)},
            {"decode_step_s", to_json(prediction.decode)}};
}

Json to_json(const std::vector<plan::Prediction>& predictions) {
    Json list = Json::array();
    for (const auto& prediction : predictions) list.push_back(to_json(prediction));
    return list;
}

Json to_json(const plan::Rates& rates) {
    Json list = Json::array();
    for (const auto& [name, unit, rate] : rates.all()) {
        if (!rate.known()) continue;
        list.push_back({{"name", name},
                        {"unit", unit},
                        {"value", json_number(rate.value)},
                        {"slower_end", json_number(rate.low)},
                        {"faster_end", json_number(rate.high)},
                        {"source", rate.source}});
    }
    return list;
}

Json to_json(const plan::TrainingPrediction& training) {
    return {{"layout", layout_json(training.layout)},
            {"devices", training.devices},
            {"global_batch", training.global_batch},
            {"micro_batches", training.micro_batches},
            {"step_s", to_json(training.step_s)},
            {"tokens_per_s", to_json(training.tokens_per_s)},
            {"mfu", to_json(training.mfu)},
            {"bubble_share", json_number(training.bubble)},
            {"gradient_reduction_s", json_number(training.reduce_s)},
            {"optimizer_s", json_number(training.optimizer_s)},
            {"forward_of_micro_batch_s", to_json(training.forward)},
            {"lost_share", json_number(training.loss.share)},
            {"checkpoint_interval_s", json_number(training.loss.interval)},
            {"loss_is_exact", training.loss.exact},
            {"tokens_per_day", to_json(training.tokens_per_day)}};
}

Json to_json(const plan::SpeedAnswer& answer) {
    Json json{{"why_not", answer.why}, {"rates", to_json(answer.rates)}};
    json["price_per_device_hour"] = answer.per_hour ? Json(*answer.per_hour) : Json(nullptr);
    if (!answer.why.empty()) return json;
    json["multiplied_in"] = {{"experts", answer.types.experts}, {"other", answer.types.plain}};
    if (answer.training) {
        json["training"] = to_json(*answer.training);
        json["flop_formula"] = answer.flop_formula;
        json["mfu_peak_flop_per_s"] = json_number(answer.mfu_peak);
        return json;
    }
    json["asked"] = to_json(answer.asked);
    json["front"] = to_json(answer.front);
    json["within_limits"] = answer.picked ? to_json(*answer.picked) : Json(nullptr);
    return json;
}

}  // namespace

Json speed_json(const plan::SpeedPlan& speed) {
    Json answers = Json::array();
    for (const auto& answer : speed.answers) answers.push_back(to_json(answer));
    Json ranking = Json::array();
    for (const auto& rank : speed.ranking) {
        ranking.push_back({{"answer", rank.answer},
                           {"yield", json_number(rank.yield)},
                           {"best", to_json(rank.best)}});
    }
    Json changes = Json::array();
    for (const auto& change : speed.break_evens) {
        changes.push_back({{"what", change.what},
                           {"value", json_number(change.value)},
                           {"unit", change.unit},
                           {"winner_below", change.before},
                           {"winner_above", change.after}});
    }
    Json json{{"input_tokens", speed.load.input}, {"output_tokens", speed.load.output}};
    if (const auto& speculation = speed.load.speculation) {
        json["speculation"] = {{"drafts", speculation->drafts},
                               {"acceptance_length", speculation->acceptance},
                               {"draft_share_of_step", speculation->draft_share}};
    }
    json["limits"] = {{"ttft_s", speed.slo.ttft_s ? Json(*speed.slo.ttft_s) : Json(nullptr)},
                      {"tpot_s", speed.slo.tpot_s ? Json(*speed.slo.tpot_s) : Json(nullptr)}};
    json["yield_unit"] = speed.yield == plan::Yield::per_dollar ? "output tokens/s per $/h"
                                                                : "output tokens/s per device";
    json["answers"] = std::move(answers);
    json["collectives"] = "alpha-beta model, without congestion";
    json["ranking"] = std::move(ranking);
    json["break_even"] = std::move(changes);
    return json;
}

}  // namespace assay::report
