// `assay attention` on the fake device, through the whole program.
#include "base/error.h"
#include "base/json.h"
#include "cli/assay.h"
#include "record/json.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

class ProgramAttention : public Assay {
  protected:
    ProgramAttention() {
        environment_["ASSAY_MODULE_PATH"] = ASSAY_BINARY_DIR "/tests/cli/modules";
    }

    // As small as the oracle of the fake device wants it.
    Ended attend(const Words& more) const {
        return run(Words{"attention", "--device", "fake:0", "--protocol", "boost", "--limit", "0.3",
                         "--heads", "2", "--dim", "4", "--cache", "hot"} +
                   more);
    }
};

TEST_F(ProgramAttention, MeasuresBothPassesOfMasksAndLengths) {
    expect_fine(
        attend({"--seq", "8", "--mask", "full,causal+window:3", "--pass", "forward,backward"}));
    ASSERT_EQ(stored().results.size(), 4u);
    for (const auto& result : stored().results) {
        EXPECT_EQ(result.status, record::Status::ok) << result.reason;
        EXPECT_NE(result.metric("throughput"), nullptr);
    }
    const auto documents = file("documents.txt", "3\n5\n");
    expect_fine(attend({"--seq", "8", "--mask", "causal+document:" + documents}));
    EXPECT_EQ(stored().results.at(0).what.at("mask"), "causal+document:3/5");
    expect_fine(attend({"--lengths", "3/5"}));
    EXPECT_EQ(stored().results.at(0).what.at("lengths"), "3/5");
}

TEST_F(ProgramAttention, WhatTheDeviceCantDoIsSkipped) {
    const auto unknown = attend({"--seq", "8", "--provider", "cudnn"});
    expect_complaint(unknown, kExitFailed, "no attention provider", "can do");
    const auto large = attend({"--seq", "1G"});
    expect_complaint(large, kExitFailed, "nothing was measured", "can do");
    EXPECT_THAT(stored().results.at(0).reason, HasSubstr("needs"));
}

}  // namespace
}  // namespace assay::cli
