#include "plan/rates.h"

#include <gmock/gmock.h>

#include "plan/planned_model.h"

namespace assay::plan {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Rates, MeasuredComesBeforePublishedBeforeDatasheet) {
    const auto published = shipped_rates("h200");
    EXPECT_THAT(published.product.at("bf16").source, StartsWith("published"));
    EXPECT_THAT(published.memory.source, StartsWith("published"));
    EXPECT_THAT(published.link.source, HasSubstr("of the datasheet"));

    const Rate own{700e12, 690e12, 710e12, "measured here"};
    const auto measured = rates_of(target("h200").device, {}, {{"bf16", own}}, {});
    EXPECT_EQ(measured.product.at("bf16").value, 700e12);
    EXPECT_EQ(measured.product.at("bf16").source, "measured here");
    EXPECT_THAT(measured.product.at("fp8").source, HasSubstr("datasheet"));
    EXPECT_THAT(measured.memory.source, HasSubstr("datasheet"));
}

catalog::Published published_product(double tflops, const std::string& what = "") {
    catalog::Published row;
    row.probe = "gemm";
    row.device = target("h200").device.name;
    row.dtype = "bf16";
    row.value = tflops;
    row.unit = "TFLOP/s";
    row.what = what;
    row.source = "somebody";
    return row;
}

TEST(Rates, AreTheMedianOfWhatIsPublishedButNotItsBest) {
    const auto rates = rates_of(target("h200").device,
                                {published_product(700), published_product(800),
                                 published_product(950, "best of any shape")},
                                {}, {});
    const auto& rate = rates.product.at("bf16");
    EXPECT_DOUBLE_EQ(rate.value, 750e12);
    EXPECT_DOUBLE_EQ(rate.low, 630e12);
    EXPECT_DOUBLE_EQ(rate.high, 880e12);
}

TEST(Rates, EveryDeviceOfTheCatalogHasOrderedEnds) {
    for (const auto& device : shipped()) {
        const auto rates = rates_of(device, {}, {}, {});
        for (const auto& [name, unit, rate] : rates.all()) {
            if (!rate.known()) continue;
            const bool time = unit == "s";  // the slower end of a time is the longer one
            EXPECT_LE(time ? rate.high : rate.low, rate.value) << device.name << " " << name;
            EXPECT_GE(time ? rate.low : rate.high, rate.value) << device.name << " " << name;
            EXPECT_FALSE(rate.source.empty()) << name;
        }
    }
}

TEST(Rates, NoShareOfTheDatasheetPassesIt) {
    for (const auto& device : shipped()) {
        const auto rates = rates_of(device, {}, {}, {});
        if (!device.bandwidth.empty()) {
            EXPECT_LT(rates.memory.high, device.bandwidth.front().value);
        }
        for (const auto& [type, figures] : device.peak) {
            const auto rate = rates.product.find(product_type(type));
            if (rate == rates.product.end() || figures.empty()) continue;
            EXPECT_LT(rate->second.high, figures.front().value) << device.name << " " << type;
        }
    }
}

TEST(Rates, WeightsAreMultipliedInATypeThatTheDeviceHas) {
    const auto b200 = shipped_rates("b200"), h200 = shipped_rates("h200"),
               a100 = shipped_rates("a100");
    EXPECT_EQ(b200.compute_type("nvfp4"), "fp4");
    EXPECT_EQ(h200.compute_type("nvfp4"), "fp8");
    EXPECT_EQ(h200.compute_type("fp8 128x128"), "fp8");
    EXPECT_EQ(b200.compute_type("mxfp4"), "bf16");
    EXPECT_EQ(a100.compute_type("fp8 128x128"), "bf16");
    EXPECT_EQ(b200.compute_type("int4"), "bf16");
    EXPECT_EQ(b200.compute_type(""), "bf16");
}

TEST(Rates, ARailIsReachedInPart) {
    const auto rail = rail_of(24.4);
    EXPECT_DOUBLE_EQ(rail.value, 24.4e9 * 0.8);
    EXPECT_THAT(rail.source, StartsWith("24.40 GB/s"));
}

}  // namespace
}  // namespace assay::plan
