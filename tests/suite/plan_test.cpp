#include "suite/plan.h"

#include <map>
#include <set>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/expect_error.h"
#include "base/files.h"
#include "base/scratch.h"
#include "work/shapes.h"

namespace assay::suite {
namespace {

record::DeviceFacts facts_of(const char* kind, std::uint64_t memory_bytes) {
    record::DeviceFacts facts;
    facts.id = facts.kind = kind;
    facts.memory_bytes = memory_bytes;
    return facts;
}
const record::DeviceFacts kCpu = facts_of("cpu", std::uint64_t{16} << 30);
const record::DeviceFacts kGpu = facts_of("cuda", std::uint64_t{141} << 30);

class Suite : public testing::Test {
  protected:
    Plan load(const std::string& content) {
        write_file(path_, content);
        return load_suite(path_);
    }
    void expect_bad(const std::string& content, const std::string& what, const std::string& hint) {
        expect_error<UsageError>([&] { load(content); }, path_ + ":" + what, hint);
    }

    Scratch scratch_;
    std::string path_ = scratch_ / "suite.toml";
};

TEST_F(Suite, HoldsWhatTheFileSays) {
    const auto plan = load(R"(
name = "mine"
budget_s = 90
launches = 4
protocol = ["boost", "article"]
[[probe]]
command = "gemm"
weight = 2.5
expected = true
shapes = ["64x64x64", "96x96x96"]
dtype = "fp32,bf16"
batch = [1, 2]
[[probe]]
command = "memory"
)");
    EXPECT_EQ(plan.suite, "mine");
    EXPECT_EQ(plan.budget.on(kCpu), 90);
    EXPECT_EQ(plan.budget.on(kGpu), 90);
    EXPECT_EQ(plan.launches, 4);
    EXPECT_EQ(plan.protocols, (std::vector<std::string>{"boost", "article"}));
    ASSERT_EQ(plan.steps.size(), 2u);
    const auto& gemm = plan.steps[0];
    EXPECT_EQ(gemm.probe->name(), "gemm");
    EXPECT_EQ(gemm.weight, 2.5);
    EXPECT_TRUE(gemm.expected);
    EXPECT_EQ(gemm.options.at("shapes"), "64x64x64,96x96x96");
    EXPECT_EQ(gemm.options.at("dtype"), "fp32,bf16");
    EXPECT_EQ(gemm.options.at("batch"), "1,2");
    EXPECT_EQ(gemm.options.at("epilogue"), "none") << "the probe's default";
    EXPECT_EQ(plan.steps[1].weight, 1);
    EXPECT_FALSE(plan.steps[1].expected);
}

TEST_F(Suite, OmittedKeysHaveTheirDefaults) {
    const auto plan = load("name = 'mine'\n[[probe]]\ncommand = 'selftest'\n");
    EXPECT_EQ(plan.budget.on(kCpu), 0);
    EXPECT_EQ(plan.budget.on(kGpu), 0);
    EXPECT_EQ(plan.steps[0].on, Where::anywhere);
    EXPECT_EQ(plan.launches, 1);
    EXPECT_TRUE(plan.protocols.empty());
}

TEST_F(Suite, AWordOutOfPlaceIsNamedWithItsPlace) {
    expect_bad("name = 's'\nlaunch = 3\n", "2:10: unknown key \"launch\"", "launches");
    expect_bad("name = 's'\nprotocol = 'bost, sustained'\n", "2:12: unknown protocol \"bost\"",
               "boost");
    expect_bad("name = 's'\n[[probe]]\ncommand = 'gem'\n", "3:11: unknown probe \"gem\"", "gemm");
    expect_bad("name = 's'\n[[probe]]\ncommand = 'gemm'\ndtpye = 'fp32'\n",
               "4:9: unknown option \"dtpye\"", "dtype");
}

TEST_F(Suite, AValueOfAnotherTypeIsNamedWithItsPlace) {
    const std::string hint = "suite file";
    expect_bad("name = 3\n", "1:8: a text in quotes is wanted", hint);
    for (const auto* budget : {"0", "-1", "inf", "nan", "'90'", "[90]", "true"}) {
        expect_bad(std::string("budget_s = ") + budget, "1:12: a number above 0 is wanted", hint);
    }
    expect_bad("budget_s = {cpu = 0}", "1:19: a number above 0 is wanted", hint);
    expect_bad("budget_s = {gpu = 9}", "1:19: \"gpu\" is neither cpu nor accelerator", hint);
    for (const auto* launches : {"0", "1001", "1.0", "'4'", "9223372036854775807"}) {
        expect_bad(std::string("launches = ") + launches,
                   "1:12: a whole number of 1 to 1000 is wanted", hint);
    }
    expect_bad("probe = 'gemm'\n", "1:9: probe is written [[probe]]", hint);
    expect_bad("[probe]\ncommand = 'gemm'\n", "1:1: probe is written [[probe]]", hint);
    expect_bad("probe = [1]\n", "1:10: a [[probe]] needs a command", hint);
    expect_bad("[[probe]]\ncommand = 'gemm'\nweight = 0\n", "3:10: a number above 0 is wanted",
               hint);
    expect_bad("[[probe]]\ncommand = 'gemm'\nexpected = 1\n", "3:12: true or false is wanted",
               hint);
    expect_bad("[[probe]]\ncommand = 'gemm'\non = 3\n", "3:6: a text in quotes is wanted", hint);
    expect_bad("[[probe]]\ncommand = 'gemm'\non = 'cuda'\n",
               "3:6: \"cuda\" is neither cpu nor accelerator", hint);
    expect_bad("[[probe]]\ncommand = 'gemm'\nbatch = true\n",
               "3:9: a text, a number or a list of them is wanted", hint);
    expect_bad("[[probe]]\ncommand = 'gemm'\nbatch = [1, {}]\n",
               "3:13: a text, a number or a list of them is wanted", hint);
}

TEST_F(Suite, AnOptionWithoutMeaningIsNamedWithItsProbe) {
    expect_bad("name = 's'\n[[probe]]\ncommand = 'gemm'\nlayout = 'nm'\n",
               "2:1: unknown layout \"nm\"", "nn");
}

TEST_F(Suite, WithoutANameOrAProbeIsNone) {
    expect_bad("", "1:1: the suite has no name", "suite file");
    expect_bad("name = 's'\n", "1:1: the suite has no [[probe]]", "suite file");
}

TEST_F(Suite, StepsAndBudgetsMayDifferByTheKindOfDevice) {
    const auto plan = load(R"(
name = "mine"
budget_s = { cpu = 60, accelerator = 45.5 }
[[probe]]
command = "selftest"
[[probe]]
command = "gemm"
on = "cpu"
[[probe]]
command = "memory"
on = "accelerator"
)");
    EXPECT_EQ(plan.budget.on(kCpu), 60);
    EXPECT_EQ(plan.budget.on(kGpu), 45.5);
    const auto on = [&](const record::DeviceFacts& device) {
        std::vector<bool> runs;
        for (const auto& step : plan.steps) runs.push_back(runs_on(step, device));
        return runs;
    };
    EXPECT_EQ(on(kCpu), (std::vector<bool>{true, true, false}));
    EXPECT_EQ(on(kGpu), (std::vector<bool>{true, false, true}));
    EXPECT_EQ(
        load("name = 's'\nbudget_s = {cpu = 3}\n[[probe]]\ncommand = 'gemm'\n").budget.on(kGpu), 0);
}

// Cases by probe, as they would run on a device.
std::map<std::string, std::vector<std::string>> cases_on(const Plan& plan,
                                                         const record::DeviceFacts& device) {
    std::map<std::string, std::vector<std::string>> cases;
    for (const auto& step : plan.steps) {
        if (!runs_on(step, device)) continue;
        const auto expanded = step.probe->expand(step.options, device);
        EXPECT_FALSE(expanded.empty());
        for (const auto& what : expanded) cases[step.probe->name()].push_back(what.text());
    }
    return cases;
}

TEST(ShippedSuites, RunOnACpuAndOnAnAccelerator) {
    const auto names = suite_names();
    for (const auto* known : {"quick", "standard", "article"}) {
        EXPECT_THAT(names, testing::Contains(known));
    }
    for (const auto& name : names) {
        for (const auto& device : {kCpu, kGpu}) {
            SCOPED_TRACE(name + " on " + device.id);
            const auto plan = load_suite(name);
            EXPECT_EQ(plan.suite, name);
            EXPECT_GT(plan.budget.on(device), 0);
            auto cases = cases_on(plan, device);
            for (const auto* probe : {"selftest", "gemm", "attention", "memory"}) {
                EXPECT_FALSE(cases[probe].empty()) << probe;
            }
            for (auto& [probe, texts] : cases) {
                const std::set<std::string> distinct(texts.begin(), texts.end());
                EXPECT_EQ(distinct.size(), texts.size()) << probe << " has a case twice";
            }
        }
    }
}

TEST(ShippedSuites, QuickMeasuresAnAcceleratorAtItsSize) {
    const auto plan = load_suite("quick");
    EXPECT_LE(plan.budget.on(kGpu), 43);
    const auto cases = cases_on(plan, kGpu);
    EXPECT_THAT(cases.at("gemm"), testing::Contains("m=8192 n=8192 k=8192 dtype=bf16"));
    EXPECT_THAT(cases.at("gemm"), testing::Contains("m=16384 n=8192 k=1280 dtype=bf16"));
    EXPECT_THAT(cases.at("attention"),
                testing::Contains("batch=2 heads=16 seq=16384 dim=128 dtype=bf16 mask=causal "
                                  "pass=backward"));
    EXPECT_THAT(cases.at("memory"), testing::Contains("op=copy size=4G"));
    EXPECT_THAT(cases.at("memory"), testing::Contains("op=device_to_host size=256M"));
}

TEST(ShippedSuites, StandardTunesTheArticlesShapesAndComparesPathsToTwo) {
    const auto plan = load_suite("standard");
    const auto gemm = cases_on(plan, kGpu).at("gemm");
    std::size_t tuned = 0, paths = 0;
    for (const auto& text : gemm) {
        if (text.ends_with("dtype=bf16 algorithm=tuned")) ++tuned;
        if (text.ends_with("dtype=bf16 parity=entries")) ++paths;
    }
    EXPECT_EQ(tuned, work::parse_shapes("article", 2048, 1).size());
    EXPECT_EQ(paths, 2U);
    std::size_t timed = 0;
    for (const auto& step : plan.steps) {
        if (!runs_on(step, kGpu)) continue;
        for (const auto& what : step.probe->expand(step.options, kGpu)) {
            if (what.has("retune_time")) ++timed;
        }
    }
    EXPECT_EQ(timed, 1U);
}

TEST(ShippedSuites, StandardComparesAnAcceleratorWithItsHostsCpu) {
    const auto plan = load_suite("standard");
    std::vector<std::string> compared;
    for (const auto* device : {&kGpu, &kCpu}) {
        for (const auto& step : plan.steps) {
            if (!runs_on(step, *device)) continue;
            for (const auto& what : step.probe->expand(step.options, *device)) {
                if (what.has("against_cpu")) compared.push_back(what.text());
            }
        }
    }
    const std::string small = "heads=12 seq=1024 dim=64 dtype=fp32 mask=causal pass=";
    EXPECT_THAT(compared, testing::ElementsAre(small + "forward", small + "backward"));
}

TEST(ShippedSuites, ArticleHasItsFiveShapesInBothTypes) {
    const auto plan = load_suite("article");
    EXPECT_EQ(plan.protocols, std::vector<std::string>{"article"});
    EXPECT_EQ(cases_on(plan, kGpu).at("gemm").size(), 10U);
}

TEST(LoadSuite, NamesAnUnknownSuiteAndTheNearest) {
    expect_error<UsageError>([] { load_suite("quik"); }, "unknown suite \"quik\"", "quick");
}

}  // namespace
}  // namespace assay::suite
