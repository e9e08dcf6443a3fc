#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "report/csv_row.h"
#include "report/plan.h"

namespace assay::report {

namespace {

template <class Number>
std::string optional(const std::optional<Number>& value) {
    return value ? fmt::format("{}", *value) : "";
}

constexpr int kSpeedCells = 23;

std::vector<std::string> speed_header() {
    std::vector<std::string> cells{"batch", "price_per_device_hour"};
    for (const char* name : {"ttft_s", "tpot_s", "output_tokens_per_s", "total_tokens_per_s",
                             "step_s", "tokens_per_s", "mfu"}) {
        for (const char* end : {"", "_low", "_high"}) cells.push_back(std::string(name) + end);
    }
    return cells;
}

void append(std::vector<std::string>& cells, const plan::Range& range) {
    for (const double end : {range.value, range.low, range.high}) cells.push_back(csv_number(end));
}

// Of a layout, at the batch asked for; empty where nothing is predicted.
std::vector<std::string> speed_cells(const plan::SpeedPlan& speed, std::size_t answer,
                                     const model::Layout& layout) {
    std::vector<std::string> cells;
    if (answer < speed.answers.size()) {
        const auto& one = speed.answers[answer];
        const auto about = [&](std::int64_t batch) {
            cells = {std::to_string(batch), one.per_hour ? csv_number(*one.per_hour) : ""};
        };
        for (const auto& p : one.asked) {
            if (p.layout != layout) continue;
            about(p.load.batch);
            for (const auto& range : {p.ttft_s, p.tpot_s, p.output_per_s, p.total_per_s}) {
                append(cells, range);
            }
        }
        if (one.training && one.training->layout == layout) {
            const auto& t = *one.training;
            about(t.global_batch);
            cells.resize(14);  // of inference
            for (const auto& range : {t.step_s, t.tokens_per_s, t.mfu}) append(cells, range);
        }
    }
    cells.resize(kSpeedCells);
    return cells;
}

// Of no devices: what the model holds once, and of a request.
std::vector<std::string> model_row(const plan::Plan& plan, const std::vector<std::string>& header) {
    std::vector<std::string> row(header.size());
    const auto put = [&](std::string_view column, const std::string& value) {
        const auto at = std::ranges::find(header, column) - header.begin();
        row.at(static_cast<std::size_t>(at)) = value;
    };
    put("model", plan.model.name);
    put("weights", csv_number(plan.model.bytes));
    if (plan.use.training) return row;
    put("cache", csv_number(plan.model.kv_of_request));
    put("state", csv_number(plan.model.state_of_request));
    return row;
}

}  // namespace

std::string plan_csv(const plan::Plan& plan, const plan::SpeedPlan& speed) {
    std::vector<std::string> header{
        "model",     "on",        "device",    "devices",       "nodes",          "tensor",
        "pipeline",  "data",      "expert",    "context",       "best",           "fits",
        "weights",   "gradients", "optimizer", "cache",         "state",          "activations",
        "workspace", "room",      "missing",   "largest_batch", "largest_context"};
    std::string out;
    std::ranges::copy(speed_header(), std::back_inserter(header));
    append_row(out, header);
    if (plan.answers.empty()) append_row(out, model_row(plan, header));
    for (std::size_t i = 0; i < plan.answers.size(); ++i) {
        const auto& answer = plan.answers[i];
        for (const auto& fit : answer.placement.layouts) {
            const auto& layout = fit.layout;
            const auto& memory = fit.memory;
            std::vector<std::string> row{plan.model.name,
                                         answer.target.text,
                                         answer.target.device.name,
                                         std::to_string(answer.placement.devices),
                                         std::to_string(answer.placement.nodes),
                                         std::to_string(layout.tensor),
                                         std::to_string(layout.pipeline),
                                         std::to_string(layout.data),
                                         std::to_string(layout.expert),
                                         std::to_string(layout.context),
                                         layout == answer.placement.best.layout ? "yes" : "no",
                                         fit.fits() ? "yes" : "no",
                                         csv_number(memory.weights),
                                         csv_number(memory.gradients),
                                         csv_number(memory.optimizer),
                                         csv_number(memory.kv_cache),
                                         csv_number(memory.state),
                                         csv_number(memory.activations),
                                         csv_number(memory.workspace),
                                         csv_number(fit.room),
                                         csv_number(fit.missing),
                                         optional(fit.largest_batch),
                                         optional(fit.largest_context)};
            std::ranges::copy(speed_cells(speed, i, layout), std::back_inserter(row));
            append_row(out, row);
        }
    }
    return out;
}

}  // namespace assay::report
