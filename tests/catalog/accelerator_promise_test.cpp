#include <gmock/gmock.h>

#include "base/files.h"
#include "base/scratch.h"
#include "catalog/devices.h"
#include "catalog/promise.h"

namespace assay::catalog {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Optional;

TEST(AcceleratorPromise, HasTheDatasheetsPeakAndThatOfTheHighestClock) {
    const auto p = promises(h200());
    EXPECT_EQ(p.model, "NVIDIA H200 SXM");
    EXPECT_EQ(p.found, "by name");
    EXPECT_THAT(p.flop_per_cycle.at("bf16").value, Optional(132 * 4096.0));
    EXPECT_THAT(p.peak.at("bf16").value, Optional(DoubleNear(1070.5e12, 0.1e12)));
    EXPECT_THAT(p.datasheet.at("bf16").value, Optional(989e12));
    EXPECT_THAT(p.datasheet.at("bf16").basis, HasSubstr("989 TFLOP/s at 1830 MHz (InferenceX-app"));
    EXPECT_THAT(p.peak.at("bf16").basis, HasSubstr("1980 MHz (NVML)"));
    EXPECT_THAT(p.flop_per_cycle.at("tf32").value, Optional(132 * 2048.0));
    EXPECT_THAT(p.flop_per_cycle.at("fp64").value, Optional(132 * 256.0));
}

TEST(AcceleratorPromise, BothOcpTypesAreItsFp8AndFnuzIsNot) {
    const auto p = promises(h200());
    for (const auto* type : {"fp8_e4m3fn", "fp8_e5m2"}) {
        EXPECT_THAT(p.flop_per_cycle.at(type).value, Optional(132 * 8192.0));
        EXPECT_THAT(p.datasheet.at(type).value, Optional(1979e12));
    }
    EXPECT_FALSE(p.flop_per_cycle.at("fp8_e4m3fnuz").value);
    EXPECT_FALSE(p.datasheet.at("fp8_e4m3fnuz").value);
    EXPECT_EQ(p.flop_per_cycle.at("fp8_e4m3fnuz").basis, "fp8 of NVIDIA H200 SXM is e4m3fn");
    auto facts = h200();
    facts.name = "NVIDIA A100-SXM4-80GB";
    EXPECT_EQ(promises(facts).flop_per_cycle.at("fp8_e4m3fn").basis,
              "NVIDIA A100 SXM4 80GB has no fp8");
}

TEST(AcceleratorPromise, BandwidthIsTheDatasheetsAndItsPeakThatOfTheMemoryClock) {
    const auto p = promises(h200());
    EXPECT_THAT(p.bandwidth.value, Optional(4.8e12));
    EXPECT_THAT(p.bandwidth_peak.value, Optional(DoubleNear(4916.736e9, 1)));
    EXPECT_EQ(p.bandwidth_peak.basis, "6144 bits x 2 x 3201 MHz / 8");
    auto facts = h200();
    facts.facts["memory_clock_mhz"] = "N/A";
    EXPECT_FALSE(promises(facts).bandwidth_peak.value);
    EXPECT_EQ(promises(facts).bandwidth_peak.basis, "memory bus or memory clock can't be read");
}

TEST(AcceleratorPromise, TellsWhereSourcesDiffer) {
    auto facts = h200();
    facts.name = "NVIDIA B200";
    facts.compute_units = facts.compute_units_total = 148;
    EXPECT_THAT(promises(facts).bandwidth.value, Optional(8e12));
    EXPECT_THAT(promises(facts).bandwidth.basis, HasSubstr("; sources differ: 7700 to 8000"));
    EXPECT_THAT(promises(facts).datasheet.at("tf32").basis, HasSubstr(", secondary)"));
}

void expect_unknown(const Promises& p, const std::string& reason) {
    EXPECT_EQ(p.model, "");
    EXPECT_FALSE(p.accelerator);
    for (const auto* by_type : {&p.flop_per_cycle, &p.peak, &p.datasheet}) {
        EXPECT_TRUE(by_type->contains("bf16"));
        for (const auto& [type, promise] : *by_type) {
            EXPECT_FALSE(promise.value) << type;
            EXPECT_THAT(promise.basis, HasSubstr(reason)) << type;
        }
    }
    EXPECT_FALSE(p.bandwidth.value);
    EXPECT_THAT(p.bandwidth.basis, HasSubstr(reason));
}

TEST(AcceleratorPromise, ADeviceInNoRowIsUnknownAndNamed) {
    auto facts = h200();
    facts.name = "NVIDIA T4";
    facts.facts["compute_capability"] = "7.5";
    expect_unknown(promises(facts), "\"NVIDIA T4\" isn't in data/accelerators.toml");
    // What it says of itself holds all the same.
    EXPECT_TRUE(promises(facts).bandwidth_peak.value);
}

TEST(AcceleratorPromise, AShareOfADeviceIsUnknown) {
    auto facts = h200();
    facts.facts["mig"] = "enabled";
    expect_unknown(promises(facts), "MIG is enabled");
    EXPECT_FALSE(promises(facts).bandwidth_peak.value);
    facts.facts["mig"] = "disabled";
    EXPECT_EQ(promises(facts).model, "NVIDIA H200 SXM");
    facts.compute_units = 66;
    expect_unknown(promises(facts), "this process may use 66 of 132 compute units");
}

TEST(AcceleratorPromise, PeakIsUnknownWithoutAHighestClock) {
    auto facts = h200();
    facts.max_clock_mhz.reset();
    facts.max_clock_source = "no NVML";
    const auto p = promises(facts);
    EXPECT_TRUE(p.datasheet.at("bf16").value);
    EXPECT_EQ(p.peak.at("bf16").basis, "highest clock: no NVML");
}

TEST(AcceleratorPromise, ARateThatIsNotListedIsUnknown) {
    auto facts = h200();
    facts.name = "NVIDIA B300";
    EXPECT_FALSE(promises(facts).flop_per_cycle.at("int8").value);
    EXPECT_THAT(promises(facts).flop_per_cycle.at("int8").basis,
                HasSubstr("no int8 rate of NVIDIA B300 SXM"));
    EXPECT_THAT(promises(facts).datasheet.at("int8").value, Optional(153.5e12));
}

TEST(AcceleratorPromise, ABrokenFileMakesPromisesUnknownAndIsNamed) {
    Scratch scratch;
    write_file(scratch / "accelerators.toml", "[[accelerator]]\nname = 3\n");
    ASSERT_EQ(::setenv("ASSAY_DATA_DIR", scratch.path().c_str(), 1), 0);
    expect_unknown(promises(h200()), "accelerators.toml:1:1: \"source\" is missing");
    ::unsetenv("ASSAY_DATA_DIR");
}

}  // namespace
}  // namespace assay::catalog
