// A suite's steps by the kind of device.
#include "base/error.h"
#include "cli/assay.h"

namespace assay::cli {
namespace {

using Words = std::vector<std::string>;

const std::string kBoth = R"(
name = "both"
budget_s = { cpu = 4, accelerator = 3 }
protocol = "boost"
[[probe]]
on = "cpu"
command = "memory"
op = "copy"
size = "32K"
[[probe]]
on = "accelerator"
command = "gemm"
shapes = "8x8x8"
)";

class ProgramSuites : public Assay {
  protected:
    ProgramSuites() { environment_["ASSAY_MODULE_PATH"] = ASSAY_BINARY_DIR "/tests/cli/modules"; }

    Ended run_on(const std::string& suite, const std::string& device) const {
        return run({"run", "--suite", file("suite.toml", suite), "--device", device});
    }
};

TEST_F(ProgramSuites, AStepRunsOnItsKindOfDeviceOnly) {
    expect_fine(run_on(kBoth, "cpu"));
    ASSERT_EQ(stored().results.size(), 1u);
    EXPECT_EQ(stored().results[0].probe, "memory");
    expect_fine(run_on(kBoth, "fake:0"));
    ASSERT_EQ(stored().results.size(), 1u);
    EXPECT_EQ(stored().results[0].probe, "gemm");
}

TEST_F(ProgramSuites, OneWithNothingForTheDeviceSaysSo) {
    const auto ended =
        run_on("name = 'gpus'\n[[probe]]\ncommand = 'gemm'\non = 'accelerator'\n", "cpu");
    expect_complaint(ended, kExitUsage, "suite \"gpus\" has nothing to run on cpu", "--device");
}

}  // namespace
}  // namespace assay::cli
