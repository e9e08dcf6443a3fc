// A run to and from JSON: the document.
#include "record/json.h"

#include <fmt/format.h>

#include "base/error.h"
#include "record/json_archive.h"

namespace assay::record {

template <>
Severity enumerator(std::string_view word) {
    return parse_severity(word);
}
template <>
RunState enumerator(std::string_view word) {
    return parse_run_state(word);
}

template <>
struct Fields<CacheFacts> {
    static void list(auto& archive, auto& cache) {
        archive.required("level", cache.level);
        archive.required("bytes", cache.bytes);
        archive.required("instances", cache.instances);
    }
};

template <>
struct Fields<NodeFacts> {
    static void list(auto& archive, auto& node) {
        archive.required("index", node.index);
        archive.required("memory_bytes", node.memory_bytes);
        archive.required("cores", node.cores);
    }
};

template <>
struct Fields<DeviceFacts> {
    static void list(auto& archive, auto& facts) {
        archive.required("id", facts.id);
        archive.required("kind", facts.kind);
        archive.optional("name", facts.name);
        archive.optional("vendor", facts.vendor);
        archive.optional("unique_id", facts.unique_id);
        archive.optional("compute_units", facts.compute_units);
        archive.optional("compute_units_total", facts.compute_units_total);
        archive.optional("memory_bytes", facts.memory_bytes);
        archive.optional("caches", facts.caches);
        archive.optional("nodes", facts.nodes);
        archive.optional("last_level_cache_bytes", facts.last_level_cache_bytes);
        archive.optional("max_clock_mhz", facts.max_clock_mhz);
        archive.optional("max_clock_source", facts.max_clock_source);
        archive.required("virtual_machine", facts.virtual_machine);
        archive.optional("features", facts.features);
        archive.optional("facts", facts.facts);
    }
};

template <>
struct Fields<SoftwareFacts> {
    static void list(auto& archive, auto& software) {
        archive.required("name", software.name);
        archive.optional("version", software.version);
        archive.optional("file", software.file);
        archive.optional("class", software.software_class);
    }
};

template <>
struct Fields<Provenance> {
    static void list(auto& archive, auto& provenance) {
        archive.optional("host", provenance.host);
        archive.optional("system", provenance.system);
        archive.optional("container", provenance.container);
        archive.optional("program_version", provenance.program_version);
        archive.optional("program_build", provenance.program_build);
        archive.optional("devices", provenance.devices);
        archive.optional("software", provenance.software);
        archive.optional("settings", provenance.settings);
    }
};

template <>
struct Fields<Finding> {
    static void list(auto& archive, auto& finding) {
        archive.required("rule", finding.rule);
        archive.required("severity", finding.severity);
        archive.required("message", finding.message);
        archive.required("evidence", finding.evidence);
        archive.required("do", finding.advice);
    }
};

// The document's "run"; results and findings stand beside it.
template <>
struct Fields<Run> {
    static void list(auto& archive, auto& run) {
        archive.required("id", run.id);
        archive.required("state", run.state);
        archive.required("started", run.started);
        archive.optional("ended", run.ended);
        archive.required("command", run.command);
        archive.optional("suite", run.suite);
        archive.required("provenance", run.provenance);
    }
};

Json to_json(const DeviceFacts& facts) {
    return write(facts);
}
Json to_json(const Finding& finding) {
    return write(finding);
}
Json to_json(const Provenance& provenance) {
    return write(provenance);
}

Json to_json(const Run& run) {
    return to_json(run, "results", write(run.results));
}

Json to_json(const Run& run, const std::string& section, Json content) {
    Json document = Json::object();
    document["schema"] = kSchema;
    document["run"] = write(run);
    document[section] = std::move(content);
    document["findings"] = write(run.findings);
    return document;
}

DeviceFacts device_facts_from_json(const Json& json) {
    return read<DeviceFacts>(Field(json));
}
Finding finding_from_json(const Json& json) {
    return read<Finding>(Field(json));
}
Provenance provenance_from_json(const Json& json) {
    return read<Provenance>(Field(json));
}

Run run_from_json(const Json& json) {
    const Field document(json);
    const Field schema = document.at("schema");
    if (schema.text() != kSchema) {
        schema.fail(fmt::format("\"{}\", where this program reads \"{}\"", schema.text(), kSchema));
    }
    Run run = read<Run>(document.at("run"));
    run.results = read<std::vector<Result>>(document.at("results"));
    run.findings = read<std::vector<Finding>>(document.at("findings"));
    return run;
}

}  // namespace assay::record
