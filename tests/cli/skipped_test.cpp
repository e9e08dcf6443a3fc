// What has a meaning but can't be done here is skipped, with its reason; a command that measured
// nothing it was asked for fails.
#include "base/error.h"
#include "base/json.h"
#include "cli/assay.h"
#include "record/json.h"

namespace assay::cli {
namespace {

using record::Status;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using Words = std::vector<std::string>;

const Words kJson{"--format", "json"};

record::Run run_of(const Ended& ended) {
    return record::run_from_json(parse_json(ended.out, "standard output"));
}

class ProgramSkipped : public Assay {};

TEST_F(ProgramSkipped, ASizeThatCannotFitNamesBytesNeededAndFree) {
    for (const Words& arguments :
         {Words{"memory", "--size", "64T", "--op", "copy", "--device", "cpu"},
          Words{"gemm", "--shapes", "2000000x2000000x2000000", "--device", "cpu"}}) {
        const auto ended = run(arguments + kJson + Words{"--protocol", "boost"});
        expect_complaint(ended, kExitFailed, "nothing was measured", "can do");
        const auto results = run_of(ended).results;
        ASSERT_EQ(results.size(), 1u);
        EXPECT_EQ(results[0].status, Status::skipped);
        EXPECT_THAT(results[0].reason,
                    MatchesRegex(".*needs? [0-9.]+ TiB, and [0-9.]+ [KMGT]iB of cpu are free; .*"));
        EXPECT_TRUE(results[0].metrics.empty());
        EXPECT_LT(ended.seconds, 30);  // nothing of that size was touched
    }
}

TEST_F(ProgramSkipped, ASizeBeyondCountingIsSkippedToo) {
    // Three arrays of it wrap round to 8 bytes when counted in 64 bits.
    const auto ended = run({"memory", "--size", "12297829382473034412", "--op", "add", "--device",
                            "cpu", "--protocol", "boost"});
    expect_complaint(ended, kExitFailed, "nothing was measured", "can do");
}

TEST_F(ProgramSkipped, OneThatFitsBesideOneThatDoesNotIsFine) {
    const auto ended = run({"memory", "--size", "32K,64T", "--op", "copy", "--device", "cpu",
                            "--protocol", "boost", "--limit", "0.3"});
    expect_fine(ended);
    EXPECT_THAT(ended.out, HasSubstr("skipped op=copy size=64T"));
    EXPECT_THAT(ended.out, HasSubstr("bandwidth"));
}

TEST_F(ProgramSkipped, ATypeTheDeviceLacksIsNamed) {
    const auto alone = run(kGemm + Words{"--dtype", "fp8_e4m3fn"} + kJson);
    expect_complaint(alone, kExitFailed, "fp8_e4m3fn", "can do");
    ASSERT_EQ(run_of(alone).results.size(), 1u);
    EXPECT_EQ(run_of(alone).results[0].status, Status::skipped);
    EXPECT_THAT(run_of(alone).results[0].reason, HasSubstr("fp8_e4m3fn"));

    const auto both = run(kGemm + Words{"--dtype", "fp8_e4m3fn,fp32"} + kJson);
    expect_fine(both);
    ASSERT_EQ(run_of(both).results.size(), 2u);
    EXPECT_EQ(run_of(both).results[0].status, Status::skipped);
    EXPECT_EQ(run_of(both).results[1].status, Status::ok);
}

TEST_F(ProgramSkipped, AMissingLibraryCostsOnlyWhatNeedsIt) {
    environment_["ASSAY_LIB_DNNL"] = "/nonexistent/libdnnl.so";
    const auto gemm = run(kGemm);
    expect_complaint(gemm, kExitFailed, "/nonexistent/libdnnl.so", "can do");
    EXPECT_THAT(gemm.out, HasSubstr("skipped"));
    expect_fine(run(kMemory));
    expect_fine(run({"info"}));
}

}  // namespace
}  // namespace assay::cli
