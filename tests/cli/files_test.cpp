// Suite and shape files that are malformed, outputs that can't be written.
#include "base/files.h"

#include <filesystem>

#include "base/error.h"
#include "cli/assay.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

class ProgramFiles : public Assay {
  protected:
    // `what` is what the error says behind "FILE:line:column: ".
    void expect_bad(const Words& command, const std::string& content, const std::string& place,
                    const std::string& what, const std::string& hint) {
        SCOPED_TRACE(content);
        const auto path = file("bad.toml", content);
        expect_complaint(run(command + Words{path}), kExitUsage, path + ":" + place + ": " + what,
                         hint);
    }
};

TEST_F(ProgramFiles, ASuiteThatIsMalformedIsNamedByLineAndColumn) {
    const Words suite{"run", "--suite"};
    const std::string head = "name = 's'\n[[probe]]\ncommand = 'gemm'\n";
    expect_bad(suite, "name = 's\n", "1:10", "", "TOML");
    expect_bad(suite, "name = \n", "1:8", "", "TOML");
    expect_bad(suite, "name = 's'\nbugdet_s = 3\n", "2:12", "unknown key \"bugdet_s\"", "budget_s");
    expect_bad(suite, "name = 's'\nbudget_s = 'long'\n", "2:12", "a number above 0", "suite file");
    expect_bad(suite, "name = 's'\nbudget_s = nan\n", "2:12", "a number above 0", "suite file");
    expect_bad(suite, "name = 's'\nlaunches = 1.5\n", "2:12", "a whole number of 1 to 1000", "");
    expect_bad(suite, "name = 's'\nlaunches = 0\n", "2:12", "a whole number of 1 to 1000", "");
    expect_bad(suite, "name = 's'\nprotocol = 'bost'\n", "2:12", "unknown protocol \"bost\"",
               "boost");
    expect_bad(suite, "name = 7\n", "1:8", "a text in quotes", "suite file");
    expect_bad(suite, "name = 's'\n[[probe]]\ncommand = 'gem'\n", "3:11", "unknown probe \"gem\"",
               "gemm");
    expect_bad(suite, "name = 's'\n[[probe]]\nweight = 1\n", "2:1", "a [[probe]] needs a command",
               "suite file");
    expect_bad(suite, head + "shaeps = '64x64x64'\n", "4:10", "unknown option \"shaeps\"",
               "shapes");
    expect_bad(suite, head + "weight = -1\n", "4:10", "a number above 0", "suite file");
    expect_bad(suite, head + "expected = 'yes'\n", "4:12", "true or false", "suite file");
    expect_bad(suite, head + "shapes = { m = 1 }\n", "4:10", "a text, a number or a list", "");
    expect_bad(suite, head + "dtype = ['fp32', 'fp31']\n", "2:1", "unknown type \"fp31\"", "fp32");
}

TEST_F(ProgramFiles, ASuiteWithoutContentIsNamed) {
    const auto empty = file("empty.toml", "");
    expect_complaint(run({"run", "--suite", empty}), kExitUsage, "the suite has no name", "suite");
    const auto bare = file("bare.toml", "name = 's'\n");
    expect_complaint(run({"run", "--suite", bare}), kExitUsage, "no [[probe]]", "suite");
    expect_complaint(run({"run", "--suite", file("none.toml")}), kExitUsage, file("none.toml"),
                     "check the path");
    expect_complaint(run({"run", "--suite", scratch_.path()}), kExitUsage, scratch_.path(), "file");
}

TEST_F(ProgramFiles, AShapeFileThatIsMalformedIsNamedByLineAndColumn) {
    const Words shapes{"gemm", "--shapes"};
    expect_bad(shapes, "[[shape]\n", "1:9", "", "TOML");
    expect_bad(shapes, "[[shape]]\nm = 64\nn = 64\nk = 0\n", "4:5", "k is 0", "");
    expect_bad(shapes, "[[shape]]\nm = 64\nn = 64\nk = 2147483648\n", "4:5", "k is 2147483648", "");
    expect_bad(shapes, "[[shape]]\nm = 64\nn = 64\nk = 64\no = 1\n", "5:5", "unknown key \"o\"",
               "");
    expect_bad(shapes, "[[shape]]\nm = 64\nn = 64\n", "1:1", "shape has no k", "");
}

TEST_F(ProgramFiles, AShapeFileIsMeasured) {
    const auto path = file("shapes.toml", "[[shape]]\nm = 48\nn = 40\nk = 56\nlayer = 'odd'\n");
    const auto ended = run({"gemm", "--shapes", path, "--cache", "hot", "--device", "cpu",
                            "--protocol", "boost", "--limit", "0.3"});
    expect_fine(ended);
    EXPECT_THAT(ended.out, HasSubstr("m=48 n=40 k=56 dtype=fp32 cache=hot (odd)"));
}

TEST_F(ProgramFiles, AnOutputThatCannotBeWrittenIsSaidBeforeMeasuring) {
    for (const auto& output : {file("no/such/folder.json"), std::string("/proc/results.json"),
                               scratch_.path().string()}) {
        const auto ended = run(kMemory + Words{"--output", output});
        expect_complaint(ended, kExitFailed, output, "");
        EXPECT_EQ(ended.out, "");
        EXPECT_THAT(ended.err, testing::Not(HasSubstr("[0/1]")));
    }
}

TEST_F(ProgramFiles, AFullDiskLosesTheDocumentNotTheResults) {
    expect_complaint(run(kMemory + Words{"--output", "/dev/full"}), kExitFailed, "/dev/full",
                     "space");
    EXPECT_EQ(stored().results.size(), 1u);
    EXPECT_EQ(stored().state, record::RunState::complete);

    auto redirected = program(kMemory);
    redirected.output = "/dev/full";
    expect_complaint(run_program(redirected), kExitFailed, "standard output", "space");
    EXPECT_EQ(store()->runs().size(), 2u);
}

TEST_F(ProgramFiles, AnOutputFileTakesThePlaceOfStandardOutput) {
    const auto path = file("r.csv", "what was there before");
    const auto ended = run(kMemory + Words{"--format", "csv", "--output", path});
    expect_fine(ended);
    EXPECT_EQ(ended.out, "");
    EXPECT_TRUE(read_file(path).starts_with("run,probe,device,"));
}

}  // namespace
}  // namespace assay::cli
