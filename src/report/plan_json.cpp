#include "report/plan.h"
#include "report/plan_parts.h"

namespace assay::report {

Json layout_json(const model::Layout& layout) {
    return {{"tensor", layout.tensor},
            {"pipeline", layout.pipeline},
            {"data", layout.data},
            {"expert", layout.expert},
            {"context", layout.context}};
}

namespace {

Json to_json(const model::Memory& memory) {
    return {{"weights", json_number(memory.weights)},
            {"gradients", json_number(memory.gradients)},
            {"optimizer", json_number(memory.optimizer)},
            {"cache", json_number(memory.kv_cache)},
            {"state", json_number(memory.state)},
            {"activations", json_number(memory.activations)},
            {"workspace", json_number(memory.workspace)},
            {"total", json_number(memory.total())}};
}

// None where nothing grows with it.
template <class Number>
Json optional(const std::optional<Number>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json to_json(const plan::Fit& fit) {
    return {{"layout", layout_json(fit.layout)},
            {"fits", fit.fits()},
            {"stage", fit.stage},
            {"bytes", to_json(fit.memory)},
            {"room_bytes", json_number(fit.room)},
            {"missing_bytes", json_number(fit.missing)},
            {"largest_batch", optional(fit.largest_batch)},
            {"largest_context", optional(fit.largest_context)},
            {"cache_tokens", optional(fit.cache_tokens)}};
}

Json to_json(const model::Division& division) {
    return {{"part", division.what},
            {"bytes", json_number(division.whole)},
            {"bytes_on_device", json_number(division.on_device)},
            {"how", division.how}};
}

Json to_json(const model::HeadsOfRank& heads) {
    return {{"of", heads.what},
            {"heads", heads.heads},
            {"on_rank", heads.of_rank},
            {"added", heads.added},
            {"kernel_pads_to", optional(heads.kernel_pads_to)}};
}

Json to_json(const plan::Answer& answer);
Json to_json(const model::Extra& extra);
Json to_json(const plan::FlopFigure& figure);

template <class Item>
Json list_of(const std::vector<Item>& items) {
    Json list = Json::array();
    for (const auto& item : items) list.push_back(to_json(item));
    return list;
}

Json to_json(const plan::Answer& answer) {
    Json memory = Json::array();
    for (const auto& figure : answer.target.device.memory) {
        memory.push_back({{"bytes", json_number(figure.value)}, {"source", figure.source}});
    }
    return {{"on", answer.target.text},
            {"device", answer.target.device.name},
            {"device_memory", std::move(memory)},
            {"devices_per_node", answer.target.per_node()},
            {"devices", answer.placement.devices},
            {"nodes", answer.placement.nodes},
            {"fits", answer.fits()},
            {"why", answer.why},
            {"least_devices", answer.least_devices},
            {"weight_share_bytes", json_number(answer.weight_share)},
            {"fit", to_json(answer.placement.best)},
            {"heads", list_of(answer.heads)},
            {"divisions", list_of(answer.divisions)},
            {"layouts", list_of(answer.placement.layouts)},
            {"notes", answer.notes}};
}

Json to_json(const model::Comparison& files, const std::string& source) {
    return {{"source", source},
            {"stored_bytes", json_number(files.stored_bytes)},
            {"config_bytes", json_number(files.config_bytes)},
            {"stored_elements", optional(files.stored_elements)},
            {"config_parameters", files.config_parameters},
            {"packed", files.packed}};
}

Json to_json(const model::Counts& counts) {
    Json kinds = Json::array();
    for (const auto& kind : counts.kinds) {
        kinds.push_back({{"kind", kind.kind},
                         {"layers", kind.layers},
                         {"parameters", kind.parameters},
                         {"active", json_number(kind.active)}});
    }
    return {{"total", counts.total},
            {"active", json_number(counts.active)},
            {"embedding", counts.embedding},
            {"head", counts.head},
            {"multi_token_prediction", counts.predictors},
            {"layers", std::move(kinds)}};
}

Json to_json(const model::Extra& extra) {
    return {{"what", extra.what}, {"parameters", extra.parameters}};
}

Json to_json(const plan::FlopFigure& figure) {
    return {{"formula", figure.formula},
            {"text", figure.text},
            {"source", figure.source},
            {"weights", json_number(figure.flop.weights)},
            {"attention", json_number(figure.flop.attention)},
            {"total", json_number(figure.flop.total())}};
}

Json to_json(const plan::ModelFacts& model) {
    return {{"name", model.name},
            {"architecture", model.architecture},
            {"positions", model.positions},
            {"stored_as", model.stored_as},
            {"counts", to_json(model.counts)},
            {"beside", list_of(model.extras)},
            {"training_flop_per_token", list_of(model.flop)},
            {"parameters_held", json_number(model.parameters)},
            {"weight_bytes", json_number(model.bytes)},
            {"cache_bytes_per_token", json_number(model.kv_per_token)},
            {"cache_bytes_of_request", json_number(model.kv_of_request)},
            {"window_cache_bytes_of_request", json_number(model.kv_of_windows)},
            {"state_bytes_of_request", json_number(model.state_of_request)},
            {"checkpoint", model.files ? to_json(*model.files, model.checkpoint) : Json(nullptr)},
            {"left_out", model.left_out},
            {"unknown", model.unknown},
            {"assumed", model.assumed}};
}

Json to_json(const model::Use& use) {
    Json json{{"purpose", use.training ? "training" : "inference"},
              {"context", use.context},
              {"batch", use.batch}};
    if (use.training) {
        const auto& optimizer = use.training->optimizer;
        json["optimizer"] = {{"name", optimizer.name},
                             {"what", optimizer.what},
                             {"source", optimizer.source},
                             {"bytes_per_parameter", json_number(optimizer.total())}};
        json["zero"] = use.training->zero;
        json["recompute"] = std::string(model::name(use.training->recompute));
    } else {
        json["cache_type"] = std::string(use.cache.name);
        json["state_element_bytes"] = json_number(use.state_bytes);
        json["prefill_chunk"] = use.chunk;
    }
    json["workspace_bytes"] = json_number(use.workspace);
    return json;
}

}  // namespace

Json plan_json(const plan::Plan& plan) {
    return {{"model", to_json(plan.model)},
            {"use", to_json(plan.use)},
            {"budget", plan.budget.text()},
            {"answers", list_of(plan.answers)},
            {"notes", plan.notes}};
}

}  // namespace assay::report
