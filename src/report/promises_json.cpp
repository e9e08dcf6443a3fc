#include "report/promises_json.h"

#include "catalog/promise.h"

namespace assay::report {

namespace {

Json to_json(const catalog::Promise& promise) {
    return {{"value", promise.value ? json_number(*promise.value) : Json(nullptr)},
            {"unit", promise.unit},
            {"basis", promise.basis}};
}

Json to_json(const std::map<std::string, catalog::Promise>& by_type) {
    Json json = Json::object();
    for (const auto& [type, promise] : by_type) json[type] = to_json(promise);
    return json;
}

Json to_json(const catalog::Figures& figures) {
    Json list = Json::array();
    for (const auto& figure : figures) {
        Json one{{"value", json_number(figure.value)}, {"source", figure.source}};
        if (figure.mhz) one["mhz"] = json_number(*figure.mhz);
        if (figure.secondary) one["secondary"] = true;
        list.push_back(std::move(one));
    }
    return list;
}

// Figures of one quantity are a list: the first counts, and several say that sources differ.
Json to_json(const catalog::Accelerator& accelerator) {
    Json peak = Json::object();
    for (const auto& [type, figures] : accelerator.peak) peak[type] = to_json(figures);
    return {{"name", accelerator.name},
            {"peak_flop_per_s", std::move(peak)},
            {"memory_bytes", to_json(accelerator.memory)},
            {"bandwidth_bytes_per_s", to_json(accelerator.bandwidth)},
            {"link_bytes_per_s", to_json(accelerator.link)},
            {"link_devices", accelerator.domain},
            {"link_topology", accelerator.topology},
            {"power_w", to_json(accelerator.power)},
            {"e4m3", accelerator.unit.e4m3},
            {"contradictions", accelerator.contradictions()}};
}

}  // namespace

Json promises_json(const record::Run& run) {
    Json list = Json::array();
    for (const auto& facts : run.provenance.devices) {
        const auto promises = catalog::promises(facts);
        list.push_back({{"device", facts.id},
                        {"model", promises.model},
                        {"found", promises.found},
                        {"flop_per_cycle", to_json(promises.flop_per_cycle)},
                        {"peak", to_json(promises.peak)},
                        {"datasheet", to_json(promises.datasheet)},
                        {"bandwidth", to_json(promises.bandwidth)},
                        {"bandwidth_peak", to_json(promises.bandwidth_peak)},
                        {"accelerator",
                         promises.accelerator ? to_json(*promises.accelerator) : Json(nullptr)}});
    }
    return list;
}

}  // namespace assay::report
