#include "suite/plan.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/expect_error.h"
#include "base/files.h"
#include "base/scratch.h"

namespace assay::suite {
namespace {

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
    EXPECT_EQ(plan.budget_s, 90);
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
    EXPECT_EQ(plan.budget_s, 0);
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

TEST_F(Suite, EveryShippedOneLoads) {
    const auto names = suite_names();
    EXPECT_THAT(names, testing::Contains("quick"));
    for (const auto& name : names) {
        const auto plan = load_suite(name);
        EXPECT_EQ(plan.suite, name);
        EXPECT_GT(plan.budget_s, 0);
    }
}

TEST(LoadSuite, NamesAnUnknownSuiteAndTheNearest) {
    expect_error<UsageError>([] { load_suite("quik"); }, "unknown suite \"quik\"", "quick");
}

}  // namespace
}  // namespace assay::suite
