#include "report/inputs_plot.h"

#include <limits>

#include <gmock/gmock.h>

#include "report/format.h"

namespace assay::report {
namespace {

record::Result product(const std::string& inputs, double tflops, std::optional<double> mhz,
                       std::optional<double> watts) {
    record::Result result;
    result.probe = "gemm";
    result.device = "cuda:0";
    result.what.set("m", 8192).set("dtype", "bf16").set("inputs", inputs, "normal");
    result.conditions.protocol = "sustained";
    result.conditions.clock_mhz = mhz;
    result.conditions.power_w = watts;
    record::Metric rate;
    rate.name = "throughput";
    rate.unit = "TFLOP/s";
    rate.better = record::Better::higher;
    rate.value = tflops;
    result.metrics = {rate};
    return result;
}

record::Run run_of(std::vector<record::Result> results) {
    record::Run run;
    run.results = std::move(results);
    return run;
}

TEST(InputsPlot, HasARowForEachDistribution) {
    const auto run = run_of({product("normal", 684, 1495, 698), product("zeros", 790, 1758, 390),
                             product("ints", 197.5, std::nullopt, 645)});
    EXPECT_EQ(inputs_plot(run, "gemm", "cuda:0"), R"(  by inputs: sustained m=8192 dtype=bf16
    inputs                                                             MHz    W
    normal  ###################################       684.0  TFLOP/s  1495  698
    zeros   ########################################  790.0  TFLOP/s  1758  390
    ints    ##########                                197.5  TFLOP/s        645
)");
}

TEST(InputsPlot, NeedsTwoDistributionsOfOneCaseAndProtocol) {
    const auto normal = product("normal", 684, 1495, 698);
    EXPECT_EQ(inputs_plot(run_of({normal}), "gemm", "cuda:0"), "");
    EXPECT_EQ(inputs_plot(run_of({normal, normal}), "gemm", "cuda:0"), "");
    auto zeros = product("zeros", 790, 1758, 390);
    zeros.conditions.protocol = "boost";
    EXPECT_EQ(inputs_plot(run_of({normal, zeros}), "gemm", "cuda:0"), "");
    zeros = product("zeros", 790, 1758, 390);
    zeros.what.set("m", 4096);
    EXPECT_EQ(inputs_plot(run_of({normal, zeros}), "gemm", "cuda:0"), "");
    EXPECT_EQ(inputs_plot({}, "gemm", "cuda:0"), "");
}

TEST(InputsPlot, LeavesOutWhatHasNoValueOrIsAnothers) {
    const auto normal = product("normal", 684, 1495, 698);
    auto zeros = product("zeros", std::numeric_limits<double>::quiet_NaN(), 1758, 390);
    EXPECT_EQ(inputs_plot(run_of({normal, zeros}), "gemm", "cuda:0"), "");
    zeros = product("zeros", 790, 1758, 390);
    zeros.status = record::Status::failed;
    EXPECT_EQ(inputs_plot(run_of({normal, zeros}), "gemm", "cuda:0"), "");
    zeros.status = record::Status::ok;
    EXPECT_NE(inputs_plot(run_of({normal, zeros}), "gemm", "cuda:0"), "");
    EXPECT_EQ(inputs_plot(run_of({normal, zeros}), "gemm", "cuda:1"), "");
    EXPECT_EQ(inputs_plot(run_of({normal, zeros}), "memory", "cuda:0"), "");
    zeros.device = "cuda:1";
    EXPECT_EQ(inputs_plot(run_of({normal, zeros}), "gemm", "cuda:0"), "");
}

TEST(InputsPlot, StandsBelowTheTable) {
    const auto run = run_of({product("normal", 684, 1495, 698), product("zeros", 790, 1758, 390)});
    EXPECT_THAT(results_table(run), testing::HasSubstr(inputs_plot(run, "gemm", "cuda:0")));
}

}  // namespace
}  // namespace assay::report
