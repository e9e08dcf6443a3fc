// assay plan: what fits, said in tables, JSON and CSV, and what can't be asked.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/assay.h"

namespace assay::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

class ProgramPlan : public Assay {
  protected:
    Ended plan(const std::string& model, const std::string& on, const Words& more = {}) {
        return run(Words{"plan", model, "--on", on} + more);
    }
    // The only answer.
    Json answer(const std::string& model, const std::string& on, const Words& more = {}) {
        const auto ended = plan(model, on, more + Words{"--format", "json"});
        const auto document = parse_json(ended.out, "standard output");
        EXPECT_EQ(document["plan"]["answers"].size(), 1u) << ended.err;
        EXPECT_EQ(ended.status,
                  document["plan"]["answers"][0]["fits"].get<bool>() ? kExitFine : kExitLimit);
        return document["plan"]["answers"][0];
    }
    bool fits(const std::string& model, const std::string& on, const Words& more = {}) {
        return answer(model, on, more)["fits"].get<bool>();
    }
};

TEST_F(ProgramPlan, KimiK3) {
    EXPECT_FALSE(fits("kimi-k3", "8xb200"));
    EXPECT_TRUE(fits("kimi-k3", "16xb200"));
    EXPECT_TRUE(fits("kimi-k3", "8xb300"));
    EXPECT_FALSE(fits("kimi-k3", "8xh200"));
    const auto mi355x = answer("kimi-k3", "8xmi355x");
    EXPECT_TRUE(mi355x["fits"].get<bool>());
    EXPECT_EQ(mi355x["nodes"], 1);
    EXPECT_NEAR(mi355x["weight_share_bytes"].get<double>(), 195e9, 0.5e9);
    EXPECT_EQ(answer("kimi-k3", "16xb200")["nodes"], 2);
    // 1.561 TB in the checkpoint.
    const auto document = parse_json(plan("kimi-k3", "b200", {"--format", "json"}).out, "");
    EXPECT_NEAR(document["plan"]["model"]["weight_bytes"].get<double>(), 1.561e12,
                0.002 * 1.561e12);
    EXPECT_EQ(document["plan"]["answers"][0]["devices"], 16);
}

// Published counts, active ones, and what stands beside the language model.
TEST_F(ProgramPlan, SaysWhatAModelIs) {
    const auto model = [&](const std::string& name) {
        return parse_json(run({"plan", name, "--format", "json"}).out, "")["plan"]["model"];
    };
    const auto deepseek = model("deepseek-v3");
    EXPECT_EQ(deepseek["counts"]["total"], 671'026'419'200);
    EXPECT_EQ(deepseek["counts"]["active"], 37'552'297'472.0);
    EXPECT_EQ(deepseek["counts"]["multi_token_prediction"], 11'610'068'224);
    EXPECT_EQ(deepseek["cache_bytes_per_token"], 70'272.0);
    EXPECT_EQ(model("qwen3-vl-8b")["beside"][0]["parameters"], 576'388'336);
    EXPECT_EQ(model("gpt-oss-120b")["window_cache_bytes_of_request"], 4'718'592.0);
    const auto text = run({"plan", "llama3-8b"}).out;
    EXPECT_THAT(text, HasSubstr("8,030,261,248, of which a token uses 8,030,261,248"));
    EXPECT_THAT(text, HasSubstr("16.06 GB (14.96 GiB), bf16"));
    EXPECT_THAT(text, ContainsRegex("semianalysis +45.030 +6.4425 +51.472"));
    EXPECT_EQ(run({"plan", "llama3-8b", "--context", "1"}).status, kExitFine);
    EXPECT_EQ(run({"plan", "llama3-8b", "--context", "1", "--on", "h200"}).status, kExitFine);
}

TEST_F(ProgramPlan, SaysHeadsAndTheirPadding) {
    EXPECT_THAT(plan("kimi-k3", "8xmi355x", {"--tp", "8"}).out,
                HasSubstr("12 of 96 on a rank, padded to 16"));
    EXPECT_THAT(plan("gpt2-1.5b", "8xh100", {"--tp", "8", "--pad"}).out,
                HasSubstr("4 of 25 on a rank, 7 of them zeros in all"));
}

TEST_F(ProgramPlan, Llama2AndBloom) {
    EXPECT_FALSE(fits("llama2-70b", "1xh100"));
    EXPECT_TRUE(fits("llama2-70b", "4xh100"));
    EXPECT_TRUE(fits("llama2-70b", "1xmi300x"));
    EXPECT_EQ(answer("llama2-70b", "h100")["least_devices"], 2);
    EXPECT_FALSE(fits("bloom-176b", "4xh100"));
    EXPECT_TRUE(fits("bloom-176b", "8xh100"));
    EXPECT_TRUE(fits("bloom-176b", "4xmi300x"));
}

TEST_F(ProgramPlan, TheTableSaysWhatEachHolds) {
    const auto ended = plan("kimi-k3", "8xmi355x,8xb200");
    EXPECT_EQ(ended.status, kExitLimit);
    EXPECT_THAT(ended.out, ContainsRegex("8xmi355x +8 +1 +yes +TP 8"));
    EXPECT_THAT(ended.out, ContainsRegex("8xb200 +8 +1 +no"));
    EXPECT_THAT(ended.out, HasSubstr("replicated on each of 8"));
    EXPECT_THAT(ended.out, HasSubstr("of-total:0.9 of 180.0 GB allows 162.0 GB"));
    EXPECT_THAT(ended.out, HasSubstr("short"));
    EXPECT_EQ(ended.err, "");
}

TEST_F(ProgramPlan, WithoutDevicesItSaysWhatTheModelHolds) {
    const auto ended = run({"plan", "llama3-8b"});
    expect_fine(ended);
    EXPECT_THAT(ended.out, HasSubstr("131072 B"));
    EXPECT_THAT(ended.out, Not(HasSubstr("fits")));
}

TEST_F(ProgramPlan, TheBudgetHasTwoMeanings) {
    const auto room = [&](const char* budget) {
        return answer("llama3-8b", "1xh100", {"--budget", budget})["fit"]["room_bytes"]
            .get<double>();
    };
    const double whole = room("of-total:1");
    EXPECT_NEAR(room("of-total:0.9"), whole - 8e9, 1);
    EXPECT_NEAR(room("of-free:0.9"), whole * 0.9, 1);
}

TEST_F(ProgramPlan, TypesOfWeightsAndCacheAreApart) {
    const auto bytes = [&](const Words& more) {
        return answer("llama3-8b", "1xh100", more)["fit"]["bytes"];
    };
    const auto plain = bytes({}), cache = bytes({"--kv-dtype", "fp8"}),
               weights = bytes({"--weights", "fp8"});
    EXPECT_EQ(cache["weights"], plain["weights"]);
    EXPECT_DOUBLE_EQ(cache["cache"].get<double>() * 2, plain["cache"].get<double>());
    EXPECT_EQ(weights["cache"], plain["cache"]);
    EXPECT_LT(weights["weights"].get<double>(), 0.6 * plain["weights"].get<double>());
}

// A latent is divided by replicas of the attention or by tokens, not by tensor parallelism.
TEST_F(ProgramPlan, LatentCachesAreDividedByWhatDividesThem) {
    const auto cache = [&](const Words& widths) {
        return answer("deepseek-v3", "8xb200",
                      Words{"--batch", "64"} + widths)["fit"]["bytes"]["cache"]
            .get<double>();
    };
    const double replicated = cache({"--tp", "8"});
    EXPECT_DOUBLE_EQ(replicated, 64 * 8192.0 * 61 * 576 * 2);
    EXPECT_DOUBLE_EQ(cache({"--tp", "8", "--cp", "8"}) * 8, replicated);
    EXPECT_DOUBLE_EQ(cache({"--tp", "1", "--dp", "8", "--ep", "8"}) * 8, replicated);
}

TEST_F(ProgramPlan, Training) {
    const Words train{"--train", "--tp", "1", "--pp", "1"};
    const auto at = [&](const Words& more) {
        return answer("llama3-8b", "8xb200", train + more)["fit"]["bytes"];
    };
    EXPECT_NEAR(at({})["optimizer"].get<double>(), 12 * 8.03026e9, 1e6);
    EXPECT_NEAR(at({"--zero", "1"})["optimizer"].get<double>(), 12 * 8.03026e9 / 8, 1e6);
    EXPECT_NEAR(at({"--optimizer", "bf16-moments"})["optimizer"].get<double>(), 4 * 8.03026e9, 1e6);
    EXPECT_LT(at({"--recompute", "full"})["activations"].get<double>(),
              at({})["activations"].get<double>() / 3);
}

TEST_F(ProgramPlan, TakesDevicesOfAnotherCatalog) {
    const auto catalog = file("mine.toml", R"(
[source.me]
text = "my own"
[unit.mine]
source = "me"
[[accelerator]]
name = "Mine 1"
kind = "hip"
names = ["Mine 1"]
unit = "mine"
peak.bf16 = [{ value = 1e15, source = "me" }]
memory = [{ value = 512e9, source = "me" }]
domain = 4
topology = "switched"
)");
    const auto one = answer("kimi-k3", "mine", {"--accelerators", catalog});
    EXPECT_EQ(one["device"], "Mine 1");
    EXPECT_EQ(one["devices"], 4);
    EXPECT_EQ(one["nodes"], 1);
}

TEST_F(ProgramPlan, TheDocumentIsValidByTheSchema) {
    const auto ended = plan("kimi-k3", "8xmi355x,16xb200", {"--format", "json"});
    expect_fine(ended);
    const auto in = file("document.json", ended.out);
    const auto command = fmt::format(
        "python3 '{0}/tests/record/validate.py' '{0}/docs/assay-1.schema.json' < '{1}' > "
        "'{1}.verdict'",
        ASSAY_SOURCE_DIR, in);
    EXPECT_EQ(std::system(command.c_str()), 0) << "wants Debian's python3-jsonschema";
    EXPECT_EQ(trim(read_file(in + ".verdict")), "ok");
}

TEST_F(ProgramPlan, CsvParses) {
    const auto ended = plan("kimi-k3", "8xmi355x,8xb200", {"--format", "csv"});
    EXPECT_EQ(ended.status, kExitLimit);
    const auto path = file("plan.csv", ended.out);
    const auto script = file("read.py", R"(
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline=""), strict=True))
best = [r for r in rows if r["best"] == "yes"]
assert [(r["on"], r["fits"]) for r in best] == [("8xmi355x", "yes"), ("8xb200", "no")], best
assert all(None not in r and float(r["weights"]) > 0 for r in rows)
assert float(best[1]["missing"]) > 0 and float(best[0]["missing"]) == 0
assert int(best[0]["largest_batch"]) > 0
)");
    EXPECT_EQ(std::system(fmt::format("python3 '{}' '{}'", script, path).c_str()), 0) << ended.out;
}

TEST_F(ProgramPlan, NamesWhatHasNoMeaning) {
    struct Misuse {
        Words arguments;
        std::string what, hint;
    };
    const std::vector<Misuse> misuses{
        {{"plan"}, "model is required", "assay plan --help"},
        {{"plan", "kimi-k4", "--on", "b200"}, "unknown model \"kimi-k4\"", "kimi-k"},
        {{"plan", "kimi-k3", "--on", "8xb20"}, "device \"b20\" is not in the catalog", "b200"},
        {{"plan", "kimi-k3", "--on", "8xtpu"},
         "device \"tpu\" is not in the catalog",
         "--accelerators FILE"},
        {{"plan", "kimi-k3", "--on", "0xb200"}, "0 devices", "131072"},
        {{"plan", "kimi-k3", "--on", "8xb200", "--tp", "5"},
         "8 devices don't divide by --tp 5",
         "multiple"},
        {{"plan", "llama3-8b", "--on", "12xb200", "--tp", "12"},
         "32 attention heads don't divide by TP 12",
         "--pad"},
        {{"plan", "kimi-k3", "--on", "8xb200", "--ep", "3"}, "--ep 3", "spread"},
        {{"plan", "llama3-8b", "--on", "8xb200", "--ep", "8"}, "has no experts", "--ep"},
        {{"plan", "llama3-8b", "--on", "8xb200", "--tp", "0"}, "--tp 0 is out of range", "131072"},
        {{"plan", "llama3-8b", "--on", "8xb200", "--pp", "two"}, "--pp", "42"},
        {{"plan", "llama3-8b", "--on", "8xb200", "--cp", "3"}, "--cp 3", "tensor group"},
        {{"plan", "llama3-8b", "--on", "b200", "--context", "-1"}, "--context -1", "8192"},
        {{"plan", "llama3-8b", "--on", "b200", "--context", "0"}, "--context 0", "1 or more"},
        {{"plan", "llama3-8b", "--on", "b200", "--batch", "many"}, "--batch many", "8192"},
        {{"plan", "llama3-8b", "--on", "b200", "--budget", "1.5"}, "--budget 1.5", "at most 1"},
        {{"plan", "llama3-8b", "--on", "b200", "--budget", "of-all:0.9"}, "\"of-all\"", "of-free"},
        {{"plan", "llama3-8b", "--on", "b200", "--kv-dtype", "fp7"}, "\"fp7\"", "fp8"},
        {{"plan", "llama3-8b", "--on", "b200", "--weights", "fp7"}, "\"fp7\"", "fp8"},
        {{"plan", "llama3-8b", "--on", "b200", "--zero", "1"},
         "--zero 1 is of training",
         "--train"},
        {{"plan", "llama3-8b", "--on", "b200", "--train", "--zero", "4"},
         "--zero 4",
         "0, 1, 2 or 3"},
        {{"plan", "llama3-8b", "--on", "b200", "--train", "--optimizer", "adam"},
         "\"adam\"",
         "megatron"},
        {{"plan", "llama3-8b", "--on", "b200", "--train", "--recompute", "some"},
         "\"some\"",
         "norms"},
        {{"plan", "llama3-8b", "--on", "b200", "--train", "--kv-dtype", "fp8"},
         "--kv-dtype fp8 is of inference",
         "leave --train out"},
        {{"plan", "llama3-8b", "--on", "b200", "--train", "--state-dtype", "bf16"},
         "--state-dtype bf16 is of inference",
         "leave --train out"},
        {{"plan", "llama3-8b", "--on", ""}, "--on list \"\" has an empty item", "commas"},
        {{"plan", "llama3-8b", "--on", "64xb200", "--pp", "64"},
         "PP 64 is more than the 32 layers",
         "--pp 32"},
        {{"plan", "llama3-8b", "--on", "b200", "--workspace", "1000G"},
         "a workspace of 1074 GB leaves nothing",
         "--workspace"},
        {{"plan", "llama3-8b", "--on", "b200", "--format", "xml"}, "unknown format \"xml\"", "csv"},
        {{"plan", "llama3-8b", "--on", "b200", "--accelerators", file("none.toml")},
         "none.toml",
         ""},
    };
    for (const auto& misuse : misuses) {
        SCOPED_TRACE(testing::PrintToString(misuse.arguments));
        const auto ended = run(misuse.arguments);
        expect_complaint(ended, kExitUsage, misuse.what, misuse.hint);
        EXPECT_EQ(ended.out, "");
    }
}

}  // namespace
}  // namespace assay::cli
