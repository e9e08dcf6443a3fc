#include "plan/target.h"

#include <gmock/gmock.h>

#include "base/expect_error.h"
#include "plan/devices.h"

namespace assay::plan {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Targets, AreCountsAndNames) {
    const auto targets = parse_targets("8xmi355x,16xB200,b300", shipped());
    ASSERT_EQ(targets.size(), 3u);
    EXPECT_EQ(targets[0].count, 8);
    EXPECT_EQ(targets[0].device.name, "AMD Instinct MI355X");
    EXPECT_EQ(targets[1].count, 16);
    EXPECT_EQ(targets[1].device.name, "NVIDIA B200 SXM");
    EXPECT_EQ(targets[2].count, std::nullopt);
    EXPECT_EQ(targets[2].device.name, "NVIDIA B300 SXM");
    EXPECT_DOUBLE_EQ(targets[1].capacity().value, 180e9);
}

TEST(Targets, AWordNamesTheFirstRowThatHasIt) {
    const auto h100 = target("h100");
    EXPECT_EQ(h100.device.name, "NVIDIA H100 SXM");
    EXPECT_THAT(h100.alike, Contains("NVIDIA H100 PCIe"));
    const auto pcie = target("4xh100-pcie");
    EXPECT_EQ(pcie.device.name, "NVIDIA H100 PCIe");
    EXPECT_THAT(pcie.alike, IsEmpty());
    EXPECT_EQ(target("gb200").device.name, "NVIDIA GB200 NVL72");
    EXPECT_EQ(target("NVIDIA B200 SXM").device.name, "NVIDIA B200 SXM");
}

TEST(Targets, KnowTheirNodes) {
    EXPECT_EQ(target("b200").per_node(), 8);
    EXPECT_FALSE(target("b200").per_node_assumed());
    EXPECT_EQ(target("gb300").per_node(), 72);
    EXPECT_EQ(target("b200").nodes(8), 1);
    EXPECT_EQ(target("b200").nodes(9), 2);
    EXPECT_TRUE(target("h100-pcie").per_node_assumed());
    EXPECT_EQ(target("h100-pcie").per_node(), 8);
}

TEST(Targets, NameWhatIsntKnown) {
    const auto parse = [](const char* text) { return [text] { parse_targets(text, shipped()); }; };
    expect_error<UsageError>(parse("8xmi355y"), "device \"mi355y\" is not in the catalog",
                             "did you mean \"mi355x\"?; to add one, copy data/accelerators.toml");
    expect_error<UsageError>(parse("trainium2"), "device \"trainium2\" is not in the catalog",
                             "--accelerators FILE");
    expect_error<UsageError>(parse("0xb200"), "0 devices of \"0xb200\" is out of range", "8xb200");
    expect_error<UsageError>(parse("999999xb200"),
                             "999999 devices of \"999999xb200\" is out of range", "131072");
    EXPECT_THROW(parse_targets("", shipped()), UsageError);
    EXPECT_THROW(parse_targets("8xb200,", shipped()), UsageError);
    EXPECT_THROW(parse_targets("-8xb200", shipped()), UsageError);
    EXPECT_THROW(parse_targets("8x", shipped()), UsageError);
    EXPECT_THROW(parse_targets("99999999999999999999xb200", shipped()), UsageError);
}

TEST(Targets, WordsOfManyRowsNameNoModel) {
    const auto parse = [](const char* text) { return [text] { parse_targets(text, shipped()); }; };
    expect_error<UsageError>(parse("8xnvidia"), "device \"nvidia\" names no model",
                             "nvidia-h100-sxm, nvidia-h100-pcie");
    expect_error<UsageError>(parse("8x80gb"), "device \"80gb\" names no model",
                             "it might mean nvidia-a100-sxm4-80gb");
    expect_error<UsageError>(parse("nvl72"), "device \"nvl72\" names no model",
                             "nvidia-gb200-nvl72, nvidia-gb300-nvl72");
    EXPECT_EQ(target("a100-80gb").device.name, "NVIDIA A100 SXM4 80GB");
}

TEST(Targets, AnUnknownOneIsAnsweredWithDevicesAlone) {
    try {
        parse_targets("trainium2", shipped());
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_THAT(error.hint(),
                    AllOf(HasSubstr("it has a100, h100, h200"), Not(HasSubstr("80gb")),
                          Not(HasSubstr("sxm4")), Not(HasSubstr("nvl72"))));
    }
}

}  // namespace
}  // namespace assay::plan
