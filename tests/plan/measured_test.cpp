#include "plan/measured.h"

#include <gmock/gmock.h>

#include "plan/devices.h"

namespace assay::plan {
namespace {

record::Metric rate(const std::string& name, const std::string& unit, double value) {
    record::Metric metric;
    metric.name = name;
    metric.unit = unit;
    metric.value = value;
    return metric;
}

record::Result product(double tflops, const std::string& protocol, std::int64_t size = 8192,
                       const std::string& inputs = "normal", const std::string& type = "bf16") {
    record::Result result;
    result.probe = "gemm";
    result.device = "cuda:0";
    for (const char* dimension : {"m", "n", "k"}) result.what.set(dimension, size);
    result.what.set("dtype", type);
    result.what.set("inputs", inputs, "normal");
    result.conditions.protocol = protocol;
    result.metrics.push_back(rate("throughput", "TFLOP/s", tflops));
    return result;
}

record::Result memory(double gbs, const std::string& op, const std::string& size) {
    record::Result result;
    result.probe = "memory";
    result.device = "cuda:0";
    result.what.set("op", op);
    result.what.set("size", size);
    result.metrics.push_back(rate("bandwidth", "GB/s", gbs));
    return result;
}

record::Run run_on(const std::string& device, std::vector<record::Result> results) {
    record::Run run;
    run.id = "r1";
    run.started = "2026-12-01T07:00:00Z";
    auto& facts = run.provenance.devices.emplace_back();
    facts.id = "cuda:0";
    facts.kind = "cuda";
    facts.name = device;
    run.results = std::move(results);
    return run;
}

const catalog::Accelerator& h200() {
    static const auto kTarget = target("h200");
    return kTarget.device;
}

TEST(Measured, TakesLargeProductsAndSustainedOnesFirst) {
    const auto rates = measured_in(
        run_on("NVIDIA H200",
               {product(800, "boost"), product(690, "sustained"), product(700, "sustained"),
                product(710, "sustained"), product(100, "sustained", 1024),
                product(950, "sustained", 8192, "zeros"), memory(4100, "read", "8G"),
                memory(9000, "read", "16M"), memory(4000, "triad", "8G")}),
        h200(), shipped());
    ASSERT_EQ(rates.size(), 2u);
    EXPECT_EQ(rates[0].of, "bf16");
    EXPECT_DOUBLE_EQ(rates[0].rate.value, 700e12);
    EXPECT_DOUBLE_EQ(rates[0].rate.low, 690e12);
    EXPECT_DOUBLE_EQ(rates[0].rate.high, 710e12);
    EXPECT_EQ(rates[0].rate.source, "measured here: 3 results of run r1, 2026-12-01");
    EXPECT_EQ(rates[1].of, "memory");
    EXPECT_DOUBLE_EQ(rates[1].rate.value, 4100e9);
}

TEST(Measured, OfTwoTheMiddleIsBetweenThem) {
    const auto rates = measured_in(
        run_on("NVIDIA H200", {product(690, "boost"), product(710, "boost")}), h200(), shipped());
    ASSERT_EQ(rates.size(), 1u);
    EXPECT_DOUBLE_EQ(rates[0].rate.value, 700e12);
}

TEST(Measured, KnowsFp8ByAnyOfItsTypes) {
    const auto rates =
        measured_in(run_on("NVIDIA H200", {product(1300, "boost", 8192, "normal", "fp8_e4m3fn")}),
                    h200(), shipped());
    ASSERT_EQ(rates.size(), 1u);
    EXPECT_EQ(rates[0].of, "fp8");
}

TEST(Measured, LeavesOtherDevicesAndFailuresOut) {
    EXPECT_TRUE(
        measured_in(run_on("NVIDIA B200", {product(700, "boost")}), h200(), shipped()).empty());
    auto failed = product(700, "boost");
    failed.status = record::Status::failed;
    EXPECT_TRUE(measured_in(run_on("NVIDIA H200", {failed}), h200(), shipped()).empty());
}

}  // namespace
}  // namespace assay::plan
