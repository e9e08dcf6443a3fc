// Processes and time: launches, one process, budgets.
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "cli/assay.h"
#include "record/json.h"

namespace assay::cli {
namespace {

using Words = std::vector<std::string>;

class ProgramLaunches : public Assay {
  protected:
    record::Run measured(const Words& arguments) {
        const auto ended = run(arguments + Words{"--format", "json"});
        expect_fine(ended);
        return record::run_from_json(parse_json(ended.out, "standard output"));
    }
};

TEST_F(ProgramLaunches, AreProcessesOfTheirOwn) {
    const auto result = measured(kMemory + Words{"--launches", "3"}).results.at(0);
    ASSERT_EQ(result.launches.size(), 3u);
    std::set<std::int64_t> pids;
    std::size_t samples = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(result.launches[i].index, static_cast<int>(i));
        pids.insert(result.launches[i].pid);
        samples += result.launches[i].samples.at("time").values.size();
    }
    EXPECT_EQ(pids.size(), 3u);
    EXPECT_EQ(result.metric("bandwidth")->n, samples);
}

TEST_F(ProgramLaunches, InProcessMeasuresTheSame) {
    const auto result = measured(kMemory + Words{"--in-process"}).results.at(0);
    EXPECT_EQ(result.status, record::Status::ok);
    EXPECT_GT(result.metric("bandwidth")->value, 0);
    EXPECT_EQ(result.launches.size(), 1u);
}

TEST_F(ProgramLaunches, ProtocolsAreResultsOfTheirOwn) {
    const auto run = measured({"memory", "--size", "32K", "--op", "copy", "--device", "cpu",
                               "--protocol", "boost,article", "--limit", "0.3"});
    ASSERT_EQ(run.results.size(), 2u);
    EXPECT_EQ(run.results[0].conditions.protocol, "boost");
    EXPECT_EQ(run.results[1].conditions.protocol, "article");
}

TEST_F(ProgramLaunches, AnEqualSeedGivesEqualCases) {
    const auto one = measured(kGemm + Words{"--seed", "7"});
    const auto two = measured(kGemm + Words{"--seed", "7"});
    EXPECT_EQ(one.results.at(0).identity(), two.results.at(0).identity());
}

TEST_F(ProgramLaunches, ASuiteKeepsToItsBudgetAndEndsWithAVerdict) {
    const auto suite = file("tiny.toml", R"(
name = "tiny"
budget_s = 600
protocol = "boost"
[[probe]]
command = "memory"
op = ["copy", "read"]
size = ["32K", "64K"]
[[probe]]
command = "gemm"
shapes = "64x64x64"
cache = "hot"
)");
    const auto ended = run({"run", "--suite", suite, "--budget", "5", "--device", "cpu"});
    expect_fine(ended);
    // Far below the suite's own budget, however loaded the machine is.
    EXPECT_LT(ended.seconds, 100);
    EXPECT_THAT(ended.out, testing::HasSubstr("verdict"));
    EXPECT_EQ(stored().suite, "tiny");
    EXPECT_EQ(stored().results.size(), 5u);
}

}  // namespace
}  // namespace assay::cli
