#include "record/json.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "record/random_record.h"

namespace assay::record {
namespace {

Json through_text(const Json& json) {
    return parse_json(dump_line(json), "test");
}

std::string error_of(const Json& document) {
    try {
        run_from_json(document);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

Json small_document() {
    Run run;
    run.id = new_run_id();
    Result result;
    result.what.set("m", 8).set("cache", "cold", "cold");
    result.launches.emplace_back().samples["time"] = {"s", {1, 2, 3}};
    result.metrics.emplace_back().interval = {1, 2};
    run.results = {result, result};
    return to_json(run);
}

TEST(JsonDocument, GivesBackAnEqualRun) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const record::Run run = RandomRecord(seed, /*with_nan=*/false).run(3);
        ASSERT_EQ(run_from_json(through_text(to_json(run))), run) << "seed " << seed;
        ASSERT_EQ(run_from_json(to_json(run)), run) << "seed " << seed;
    }
}

TEST(JsonDocument, GivesBackTheSameTextWithNaN) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const std::string text = dump_line(to_json(RandomRecord(seed).run(3)));
        const record::Run again = run_from_json(parse_json(text, "test"));
        ASSERT_EQ(dump_line(to_json(again)), text) << "seed " << seed;
    }
}

TEST(JsonDocument, GivesBackEachPartByItself) {
    RandomRecord random(7, /*with_nan=*/false);
    for (int i = 0; i < 50; ++i) {
        const Result result = random.result();
        EXPECT_EQ(result_from_json(through_text(to_json(result))), result);
        const DeviceFacts facts = random.device();
        EXPECT_EQ(device_facts_from_json(through_text(to_json(facts))), facts);
        const Provenance provenance = random.provenance();
        EXPECT_EQ(provenance_from_json(through_text(to_json(provenance))), provenance);
    }
    const Finding finding{"above-peak", Severity::error, "too fast", {"a", ""}, "look again"};
    EXPECT_EQ(finding_from_json(through_text(to_json(finding))), finding);
}

TEST(JsonDocument, GivesBackDefaultsAsTheyAre) {
    EXPECT_EQ(run_from_json(through_text(to_json(record::Run{}))), record::Run{});
    EXPECT_EQ(result_from_json(through_text(to_json(Result{}))), Result{});
    EXPECT_EQ(device_facts_from_json(through_text(to_json(DeviceFacts{}))), DeviceFacts{});
}

TEST(JsonDocument, KeepsBytesThatAreNoTextReadable) {
    Result result;
    result.what.set("name\xff", "caf\xe9").set("file\xc3", "\xe2\x82 ", "\xe2\x82 ");
    result.reason = "\xff";
    const Result again = result_from_json(through_text(to_json(result)));
    EXPECT_EQ(again.what.text(), "name\uFFFD=caf\uFFFD");
    EXPECT_EQ(again.reason, "\uFFFD");
}

TEST(JsonDocument, HoldsEveryPairAndTellsDefaults) {
    const Json result = small_document()["results"][0];
    EXPECT_EQ(dump_line(result["case"]), R"({"m":"8","cache":"cold"})");
    EXPECT_EQ(result["case_text"], "m=8");
    EXPECT_FALSE(result.contains("reason"));
    EXPECT_EQ(result["path"], "unknown");
}

TEST(JsonDocument, WritesNaNAsNullAndLargeIntegersAsStrings) {
    Result result;
    Metric& metric = result.metrics.emplace_back();
    metric.value = std::nan("");
    metric.n = (std::uint64_t{1} << 53) + 1;
    const Json json = to_json(result)["metrics"][0];
    EXPECT_TRUE(json["value"].is_null());
    EXPECT_EQ(json["n"], "9007199254740993");
    EXPECT_FALSE(json.contains("interval"));
}

TEST(JsonDocument, PutsASectionInPlaceOfResults) {
    const Json document = to_json(record::Run{}, "inventory", Json{{"devices", Json::array()}});
    EXPECT_FALSE(document.contains("results"));
    EXPECT_TRUE(document["inventory"].contains("devices"));
    EXPECT_EQ(error_of(document), "results: missing");
}

TEST(JsonErrors, NameTheField) {
    const struct {
        const char* pointer;
        Json value;
        const char* message;
    } cases[] = {
        {"/schema", "assay/2", "schema: \"assay/2\", where this program reads \"assay/1\""},
        {"/run", 5, "run: expected an object"},
        {"/run/state", "done", "run.state: unknown run state \"done\""},
        {"/run/command", "ls", "run.command: expected an array"},
        {"/run/command", Json::array({1}), "run.command[0]: expected a string"},
        {"/results/1/metrics/0/value", "3", "results[1].metrics[0].value: expected a number"},
        {"/results/1/metrics/0/interval", Json::array({1}),
         "results[1].metrics[0].interval: expected two items"},
        {"/results/1/metrics/0/n", -1, "results[1].metrics[0].n: -1 is out of range"},
        {"/results/1/metrics/0/n", 1.5, "results[1].metrics[0].n: expected an integer"},
        {"/results/1/metrics/0/n", "1e3", "results[1].metrics[0].n: \"1e3\" is not a whole number"},
        {"/results/0/metrics/0/steady", 1, "results[0].metrics[0].steady: expected true or false"},
        {"/results/0/conditions/operand_sets", 3000000000u,
         "results[0].conditions.operand_sets: 3000000000 is out of range"},
        {"/results/0/launches/0/samples/time/values/1", "x",
         "results[0].launches[0].samples.time.values[1]: expected a number"},
        {"/results/0/case/m", 8, "results[0].case.m: expected a string"},
        {"/results/0/case_text", "m=9", "results[0].case_text: the case has no \"m=9\""},
        {"/results/0/status", nullptr, "results[0].status: expected a string"},
    };
    for (const auto& broken : cases) {
        Json document = small_document();
        document[Json::json_pointer(broken.pointer)] = broken.value;
        EXPECT_EQ(error_of(document), broken.message);
    }
}

TEST(JsonErrors, NameWhatIsMissing) {
    Json document = small_document();
    document["results"][1].erase("status");
    EXPECT_EQ(error_of(document), "results[1].status: missing");
    EXPECT_EQ(error_of(Json::array()), "document: expected an object");
    EXPECT_EQ(error_of(Json::object()), "schema: missing");
}

}  // namespace
}  // namespace assay::record
