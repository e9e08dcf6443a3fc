#include "report/waterfall.h"

#include <gmock/gmock.h>

#include "report/format.h"

namespace assay::report {
namespace {

record::Result product(const std::string& protocol, double seconds, double mhz) {
    record::Result result;
    result.probe = "gemm";
    result.device = "cuda:0";
    result.what.set("m", 8192).set("dtype", "bf16").set("algorithm", "heuristic", "heuristic");
    result.conditions.protocol = protocol;
    result.launches.emplace_back();
    result.launches[0].samples["time"] = {"s", {seconds}};
    result.launches[0].samples["clock_mhz"] = {"MHz", {mhz}};
    return result;
}

TEST(Waterfall, IsOneLine) {
    auto boost = product("boost", 1.0e-3, 1776);
    auto sustained = product("sustained", 1.17e-3, 1500);
    sustained.conditions.throttle_reasons = {"SW power cap"};
    record::Run run;
    run.results = {boost, sustained};
    EXPECT_EQ(waterfall_text(judge::waterfalls(run).at(0)),
              "gemm m=8192 dtype=bf16 sustained / boost: 1.170 = clock 1.184 (power) x cycles "
              "0.988 x gaps 1.000 (not measured)");
    run.results[0].conditions.settings["gap_s"] = "0";
    run.results[1].conditions.settings["gap_s"] = "0.0001";
    EXPECT_THAT(waterfall_text(judge::waterfalls(run).at(0)), testing::EndsWith("x gaps 1.093"));
}

TEST(Waterfall, OfAlgorithmsNamesTheProtocolAndNoCauseWithoutADifference) {
    auto tuned = product("sustained", 0.9e-3, 1500);
    tuned.what.set("algorithm", "tuned", "heuristic");
    record::Run run;
    run.results = {product("sustained", 1e-3, 1500), tuned};
    EXPECT_EQ(waterfall_text(judge::waterfalls(run).at(0)),
              "gemm sustained m=8192 dtype=bf16 tuned / heuristic: 0.900 = clock 1.000 x cycles "
              "0.900 x gaps 1.000 (not measured)");
}

TEST(Waterfall, StandsBelowItsOwnTable) {
    record::Run run;
    run.results = {product("boost", 1e-3, 1776), product("sustained", 1.17e-3, 1500)};
    auto other = run.results;
    for (auto& result : other) result.device = "cuda:1";
    other[1].launches[0].samples["clock_mhz"].values = {1400};
    run.results.insert(run.results.end(), other.begin(), other.end());
    const auto text = results_table(run);
    const auto second = text.find("gemm on cuda:1");
    ASSERT_NE(second, text.npos);
    EXPECT_LT(text.find("clock 1.184 (other)"), second);
    EXPECT_GT(text.find("clock 1.269 (other)"), second);
}

}  // namespace
}  // namespace assay::report
