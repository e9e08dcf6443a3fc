// docs/assay-1.schema.json against documents that this program writes.
#include <cstdlib>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"
#include "base/text.h"
#include "record/json.h"
#include "record/random_record.h"

namespace assay::record {
namespace {

const std::string kSchemaFile = ASSAY_SOURCE_DIR "/docs/assay-1.schema.json";

// "ok" or an error for each document, by a validator that isn't ours.
std::vector<std::string> validate(const std::vector<Json>& documents) {
    const std::string base = testing::TempDir() + "assay-schema-" + std::to_string(getpid());
    std::string lines;
    for (const Json& document : documents) lines += dump_line(document) + '\n';
    write_file(base + ".in", lines);
    const std::string command = "python3 '" ASSAY_SOURCE_DIR "/tests/record/validate.py' '" +
                                kSchemaFile + "' < '" + base + ".in' > '" + base + ".out'";
    const int status = std::system(command.c_str());
    EXPECT_EQ(status, 0) << "the validator needs the Debian package python3-jsonschema";
    auto verdicts = split(read_file(base + ".out"), '\n');
    std::erase(verdicts, "");
    std::filesystem::remove(base + ".in");
    std::filesystem::remove(base + ".out");
    EXPECT_EQ(verdicts.size(), documents.size());
    verdicts.resize(documents.size());
    return verdicts;
}

// Every kind of object once.
Run complete_run() {
    Run run;
    run.id = new_run_id();
    run.started = "2026-11-30T22:11:07Z";
    run.command = {"assay", "gemm"};
    run.provenance = collect_provenance();
    DeviceFacts& device = run.provenance.devices.emplace_back();
    device.caches.emplace_back();
    device.nodes.emplace_back();
    run.provenance.software.emplace_back();
    run.findings.emplace_back();
    Result& result = run.results.emplace_back();
    result.what.set("m", 8192).set("cache", "cold", "cold");
    Launch& launch = result.launches.emplace_back();
    launch.started = run.started;
    launch.samples["time"] = {"s", {1e-3, std::nan("")}};
    result.metrics.emplace_back().interval = {1, std::nan("")};
    result.series.emplace_back();
    result.checks.emplace_back();
    return run;
}

void collect_declared(const Json& schema, std::set<std::string>& names) {
    if (!schema.is_structured()) return;
    for (const auto& [key, value] : schema.items()) {
        if (key == "properties") {
            for (const auto& [name, property] : value.items()) names.insert(name);
        }
        collect_declared(value, names);
    }
}

void collect_written(const Json& document, std::set<std::string>& names) {
    if (!document.is_structured()) return;
    for (const auto& [key, value] : document.items()) {
        names.insert(key);
        collect_written(value, names);
    }
}

TEST(Schema, AcceptsWhatIsWritten) {
    std::vector<Json> documents = {to_json(complete_run())};
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        documents.push_back(to_json(RandomRecord(seed).run(2)));
    }
    for (const char* section : {"inventory", "plan", "cost", "comparison", "history"}) {
        documents.push_back(to_json(complete_run(), section, Json::object()));
    }
    for (const std::string& verdict : validate(documents)) EXPECT_EQ(verdict, "ok");
}

TEST(Schema, DeclaresNothingThatIsNeverWritten) {
    std::set<std::string> declared;
    collect_declared(parse_json(read_file(kSchemaFile), kSchemaFile), declared);
    std::set<std::string> written = {"inventory", "plan", "cost", "comparison", "history"};
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        collect_written(to_json(RandomRecord(seed).run(2)), written);
    }
    for (const std::string& name : declared) EXPECT_TRUE(written.contains(name)) << name;
}

TEST(Schema, RejectsPlantedErrors) {
    const Json good = to_json(complete_run());
    std::vector<Json> documents;
    std::vector<std::string> planted;
    const auto plant = [&](const std::string& pointer, Json value) {
        Json& document = documents.emplace_back(good);
        document[Json::json_pointer(pointer)] = std::move(value);
        planted.push_back(pointer + " = " + dump_line(document[Json::json_pointer(pointer)]));
    };
    const auto remove = [&](const std::string& parent, const char* name) {
        documents.emplace_back(good)[Json::json_pointer(parent)].erase(name);
        planted.push_back(parent + " without " + name);
    };
    for (const char* object :
         {"", "/run", "/run/provenance", "/run/provenance/devices/0",
          "/run/provenance/devices/0/caches/0", "/run/provenance/devices/0/nodes/0",
          "/run/provenance/software/0", "/results/0", "/results/0/conditions",
          "/results/0/launches/0", "/results/0/launches/0/samples/time", "/results/0/metrics/0",
          "/results/0/series/0", "/results/0/checks/0", "/findings/0"}) {
        plant(std::string(object) + "/undeclared", 1);
    }
    plant("/schema", "assay/2");
    plant("/inventory", Json::object());  // beside results
    plant("/run/id", "latest");
    plant("/run/state", "done");
    plant("/run/started", "today");
    plant("/run/provenance/settings/OMP_NUM_THREADS", 2);
    plant("/results/0/case/m", 8192);
    plant("/results/0/status", "fine");
    plant("/results/0/path", "slow");
    plant("/results/0/metrics/0/better", "bigger");
    plant("/results/0/metrics/0/value", "12");
    plant("/results/0/metrics/0/n", -1);
    plant("/results/0/metrics/0/n", 1.5);
    plant("/results/0/metrics/0/n", std::uint64_t{9007199254740993});
    plant("/results/0/metrics/0/interval", Json::array({1}));
    plant("/results/0/launches/0/samples/time/values/0", "fast");
    plant("/findings/0/severity", "fatal");
    remove("", "findings");
    remove("", "results");
    remove("/run", "provenance");
    remove("/results/0", "case_text");
    remove("/results/0", "launches");
    remove("/results/0/metrics/0", "definition");
    const auto verdicts = validate(documents);
    for (std::size_t i = 0; i < verdicts.size(); ++i) EXPECT_NE(verdicts[i], "ok") << planted[i];
}

}  // namespace
}  // namespace assay::record
