// Modules that can't be loaded, and devices that go wrong while they measure: each costs its own
// cases only.
#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/version.h"
#include "cli/assay.h"
#include "record/json.h"

namespace assay::cli {
namespace {

using record::Status;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

// The unlucky case between two good ones.
const Words kThree{"gemm",     "--shapes", "8x8x8,13x8x8,16x8x8",
                   "--device", "fake:0",   "--protocol",
                   "boost",    "--limit",  "0.2"};

// Modules of the loader's tests, most of which can't be loaded.
const std::string kUnusable = ASSAY_BINARY_DIR "/tests/device/modules";

class ProgramModules : public Assay {
  protected:
    ProgramModules() { environment_["ASSAY_MODULE_PATH"] = ASSAY_BINARY_DIR "/tests/cli/modules"; }

    // Runs the three cases with that fault; the outcome of the unlucky one is returned.
    record::Result unlucky(const std::string& fault) {
        environment_["ASSAY_FAKE_FAULT"] = fault;
        const auto ended = run(kThree + Words{"--format", "json"});
        const auto measured = record::run_from_json(parse_json(ended.out, "standard output"));
        if (measured.results.size() != 3) throw Error("no three results: " + ended.err);
        EXPECT_EQ(measured.results[0].status, Status::ok) << measured.results[0].reason;
        EXPECT_EQ(measured.results[2].status, Status::ok) << measured.results[2].reason;
        auto result = measured.results[1];
        if (result.status == Status::failed) {
            expect_complaint(ended, kExitFailed, "1 of 3 cases failed", "--in-process");
            EXPECT_THAT(ended.err, HasSubstr(result.reason));
            EXPECT_TRUE(result.metrics.empty());
            EXPECT_THAT(result.reason, Not(HasSubstr("\n")));
        } else {
            expect_fine(ended);
        }
        EXPECT_EQ(stored().results.size(), 3u);
        EXPECT_TRUE(all_processes_end());
        return result;
    }
    void expect_failed(const std::string& fault, const std::string& reason) {
        SCOPED_TRACE(fault);
        const auto result = unlucky(fault);
        EXPECT_EQ(result.status, Status::failed);
        EXPECT_THAT(result.reason, HasSubstr(reason));
    }
};

TEST_F(ProgramModules, AnOptionMayImplyItsValue) {
    const Words one{"gemm", "--shapes", "8x8x8", "--device", "fake:0", "--limit", "0.2"};
    for (const auto& [given, parity] : {std::pair{Words{"--parity"}, "entries"},
                                        std::pair{Words{"--parity", "layouts"}, "layouts"},
                                        std::pair{Words{"--parity", "--quiet"}, "entries"}}) {
        const auto ended = run(one + given + Words{"--format", "json"});
        expect_fine(ended);
        const auto measured = record::run_from_json(parse_json(ended.out, "standard output"));
        ASSERT_EQ(measured.results.size(), 1u);
        EXPECT_EQ(measured.results[0].what.at("parity"), parity);
    }
    expect_complaint(run(one + Words{"--retune"}), kExitUsage, "--retune without --algorithm tuned",
                     "add --algorithm tuned");
}

TEST_F(ProgramModules, AnAcceleratorIsComparedWithThisHostsCpu) {
    const Words small{"attention", "--heads", "2",       "--seq", "16",
                      "--dim",     "8",       "--cache", "hot",   "--against-cpu"};
    const auto ended = run(small + Words{"--device", "fake:0", "--protocol", "boost", "--limit",
                                         "0.4", "--format", "json"});
    expect_fine(ended);
    const auto measured = record::run_from_json(parse_json(ended.out, "standard output"));
    ASSERT_EQ(measured.results.size(), 1u);
    const auto& result = measured.results[0];
    EXPECT_EQ(result.device, "fake:0");
    EXPECT_NE(result.metric("speed-up over this host's CPU"), nullptr);
    EXPECT_FALSE(result.conditions.settings.contains("against cpu"))
        << result.conditions.settings.at("against cpu");
    expect_complaint(run(small + Words{"--device", "cpu"}), kExitUsage,
                     "--against-cpu on this host's CPU has nothing to compare", "cuda:0");
}

TEST_F(ProgramModules, ACrashIsOneFailedResult) {
    expect_failed("segv", "SIGSEGV");
    expect_failed("segv", "libassay_fake.so");
    expect_failed("abort", "SIGABRT");
    expect_failed("abort", "aborted in ");
    expect_failed("segv", "gemm m=");
}

TEST_F(ProgramModules, ASilentExitIsOneFailedResult) {
    expect_failed("exit", "exit status 0");
}

TEST_F(ProgramModules, AHangIsOneFailedResult) {
    expect_failed("stop", "hung");
    expect_failed("stop", " by fake 1: hung");
}

TEST_F(ProgramModules, AGarbageLineIsOneFailedResult) {
    expect_failed("garble", "garbage");
}

TEST_F(ProgramModules, AnExceptionAndALostDeviceAreOneFailedResultEach) {
    expect_failed("throw", "the vendor's own exception");
    expect_failed("lose", "fake:0 fell off the bus");
}

TEST_F(ProgramModules, ALibraryThatPrintsCostsNothing) {
    EXPECT_EQ(unlucky("print").status, Status::ok);
}

TEST_F(ProgramModules, ThatIsBrokenIsNamed) {
    environment_["ASSAY_MODULE_PATH"] = scratch_.path();
    const auto broken = file("libassay_broken.so", "this is no library\n");
    expect_complaint(run({"gemm", "--shapes", "8x8x8", "--device", "broken"}), kExitFailed, broken,
                     "remove the file");
    const auto info = run({"info"});
    expect_fine(info);
    EXPECT_THAT(info.out, HasSubstr("module broken: "));
    EXPECT_THAT(info.out, HasSubstr(broken));
}

TEST_F(ProgramModules, ThatIsBrokenIsNotPassedOverInSilence) {
    environment_["ASSAY_MODULE_PATH"] = scratch_.path();
    file("libassay_broken.so", "this is no library\n");
    const auto ended = run({"memory", "--size", "32K", "--op", "copy", "--protocol", "boost",
                            "--limit", "0.3", "--device", "best"});
    expect_fine(ended);
    EXPECT_THAT(ended.err, HasSubstr("passed over broken: "));
    EXPECT_EQ(stored().results.at(0).device, "cpu");
    EXPECT_THAT(stored().provenance.settings.at("passed over"), HasSubstr("broken: "));
}

TEST_F(ProgramModules, OfAnotherBuildIsNamedWithItsNumber) {
    environment_["ASSAY_MODULE_PATH"] = kUnusable;
    const auto ended = run({"gemm", "--shapes", "8x8x8", "--device", "otherabi"});
    expect_complaint(ended, kExitFailed,
                     fmt::format("libassay_otherabi.so has ABI {}, this program has {}",
                                 kModuleAbi + 1, kModuleAbi),
                     "rebuild the module");
}

TEST_F(ProgramModules, ThatCannotBeLoadedHideNoOthers) {
    environment_["ASSAY_MODULE_PATH"] = kUnusable;
    const auto info = run({"info"});
    expect_fine(info);
    EXPECT_THAT(info.out, HasSubstr("fake:0: "));
    for (const auto* kind : {"nosymbol", "otherabi", "throws"}) {
        EXPECT_THAT(info.out, HasSubstr(fmt::format("module {}: ", kind)));
    }
}

TEST_F(ProgramModules, ThatCrashWhileListedHideNoOthers) {
    environment_["ASSAY_FAKE_FAULT"] = "list";
    const auto info = run({"info"});
    expect_fine(info);
    EXPECT_THAT(info.out, HasSubstr("module fake: "));
    EXPECT_THAT(info.out, HasSubstr("SIGABRT"));
    EXPECT_THAT(info.out, HasSubstr("cpu: "));
}

TEST_F(ProgramModules, WithoutOneThereIsNoDevice) {
    environment_["ASSAY_MODULE_PATH"] = scratch_.path();
    file("libassay_cpu.so", "in the place of the real one\n");
    expect_complaint(run({"info"}), kExitFailed, "no device found", "ASSAY_MODULE_PATH");
}

}  // namespace
}  // namespace assay::cli
