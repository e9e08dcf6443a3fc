// A result to and from JSON.
#include <algorithm>

#include <fmt/format.h>

#include "record/json.h"
#include "record/json_archive.h"

namespace assay::record {

template <>
Better enumerator(std::string_view word) {
    return parse_better(word);
}
template <>
Path enumerator(std::string_view word) {
    return parse_path(word);
}
template <>
Status enumerator(std::string_view word) {
    return parse_status(word);
}

void Writer::pairs(const Case& what) {
    Json all = Json::object();
    for (const Case::Pair& pair : what.pairs()) all[pair.name] = pair.value;
    json_["case"] = std::move(all);
    required("case_text", what.text());
}

// Walking the pairs and the text side by side tells which pairs are at their default: a name
// stands once in a case, so a match can't be another pair's.
void Reader::pairs(Case& what) {
    const Field text_field = object_.at("case_text");
    const std::string all_text = text_field.text();
    std::string_view text = all_text;
    for (const auto& [name, field] : object_.at("case").members()) {
        const Case::Pair pair{.name = name, .value = field.text()};
        const std::string word = pair.text();
        const bool in_text =
            text.starts_with(word) && (text.size() == word.size() || text[word.size()] == ' ');
        if (in_text) {
            text.remove_prefix(std::min(word.size() + 1, text.size()));
            what.set(pair.name, pair.value);
        } else {
            what.set(pair.name, pair.value, pair.value);
        }
    }
    if (!text.empty()) text_field.fail(fmt::format("the case has no \"{}\"", text));
}

template <>
struct Fields<Conditions> {
    static void list(auto& archive, auto& conditions) {
        archive.optional("protocol", conditions.protocol);
        archive.optional("library", conditions.library);
        archive.optional("library_file", conditions.library_file);
        archive.optional("library_version", conditions.library_version);
        archive.optional("algorithm", conditions.algorithm);
        archive.optional("workspace_bytes", conditions.workspace_bytes);
        archive.optional("clock_mhz", conditions.clock_mhz);
        archive.optional("clock_source", conditions.clock_source);
        archive.optional("power_w", conditions.power_w);
        archive.optional("power_source", conditions.power_source);
        archive.optional("energy_per_call_j", conditions.energy_per_call_j);
        archive.optional("temperature_c", conditions.temperature_c);
        archive.optional("throttle_reasons", conditions.throttle_reasons);
        archive.required("calls_per_sample", conditions.calls_per_sample);
        archive.optional("stop_reason", conditions.stop_reason);
        archive.optional("settled", conditions.settled);
        archive.optional("settle_s", conditions.settle_s);
        archive.optional("footprint_bytes", conditions.footprint_bytes);
        archive.required("operand_sets", conditions.operand_sets);
        archive.optional("threads", conditions.threads);
        archive.optional("compute_units", conditions.compute_units);
        archive.optional("settings", conditions.settings);
    }
};

template <>
struct Fields<Samples> {
    static void list(auto& archive, auto& samples) {
        archive.required("unit", samples.unit);
        archive.required("values", samples.values);
    }
};

template <>
struct Fields<Launch> {
    static void list(auto& archive, auto& launch) {
        archive.required("index", launch.index);
        archive.required("pid", launch.pid);
        archive.required("started", launch.started);
        archive.required("samples", launch.samples);
        archive.optional("telemetry", launch.telemetry);
    }
};

template <>
struct Fields<Metric> {
    static void list(auto& archive, auto& metric) {
        archive.required("name", metric.name);
        archive.required("unit", metric.unit);
        archive.required("better", metric.better);
        archive.required("definition", metric.definition);
        archive.required("value", metric.value);
        archive.optional("interval", metric.interval);
        archive.required("n", metric.n);
        archive.optional("effective_n", metric.effective_n);
        archive.optional("steady", metric.steady);
        archive.optional("trustworthy", metric.trustworthy);
    }
};

template <>
struct Fields<Series> {
    static void list(auto& archive, auto& series) {
        archive.required("name", series.name);
        archive.required("x", series.x);
        archive.required("y", series.y);
        archive.required("unit_x", series.unit_x);
        archive.required("unit_y", series.unit_y);
    }
};

template <>
struct Fields<Check> {
    static void list(auto& archive, auto& check) {
        archive.required("name", check.name);
        archive.required("passed", check.passed);
        archive.optional("detail", check.detail);
    }
};

template <>
struct Fields<Result> {
    static void list(auto& archive, auto& result) {
        archive.required("probe", result.probe);
        archive.required("device", result.device);
        archive.pairs(result.what);
        archive.required("status", result.status);
        archive.optional("reason", result.reason);
        archive.required("path", result.path);
        archive.required("conditions", result.conditions);
        archive.required("launches", result.launches);
        archive.required("metrics", result.metrics);
        archive.required("series", result.series);
        archive.required("checks", result.checks);
    }
};

template Json write(const Result& result);
template Result read<Result>(const Field& field);

Json to_json(const Result& result) {
    return write(result);
}

Result result_from_json(const Json& json) {
    return read<Result>(Field(json));
}

}  // namespace assay::record
