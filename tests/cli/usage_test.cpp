// Words without a meaning: status 2, one line that names the word, one that says what to do.
#include "base/error.h"
#include "cli/assay.h"

namespace assay::cli {
namespace {

using Words = std::vector<std::string>;

struct Misuse {
    Words arguments;
    std::string what, hint;
};

class ProgramUsage : public Assay {
  protected:
    void expect_all(const std::vector<Misuse>& misuses) {
        for (const auto& misuse : misuses) {
            SCOPED_TRACE(testing::PrintToString(misuse.arguments));
            const auto ended = run(misuse.arguments);
            expect_complaint(ended, kExitUsage, misuse.what, misuse.hint);
            EXPECT_EQ(ended.out, "");
        }
    }
};

TEST_F(ProgramUsage, NamesUnknownCommandsAndOptions) {
    expect_all({
        {{}, "no command given", "assay --help"},
        {{"gem"}, "unknown command \"gem\"", "did you mean gemm?"},
        {{"zzzzzzzz"}, "unknown command \"zzzzzzzz\"", "assay --help lists the commands"},
        {{"--formt", "json"}, "unknown option \"--formt\"", "assay --help"},
        {{"gemm", "--dtyp", "fp32"}, "unknown option \"--dtyp\"", "did you mean --dtype?"},
        {{"gemm", "--dtyp=fp32"}, "unknown option \"--dtyp\"", "did you mean --dtype?"},
        {{"run", "--suit", "quick"}, "unknown option \"--suit\"", "did you mean --suite?"},
        {{"gemm", "1024"}, "gemm takes no argument \"1024\"", "assay gemm --help"},
        {{"gemm", "memory"}, "gemm takes no argument \"memory\"", "assay gemm --help"},
        {{"gemm", "--shapes"}, "--shapes", "assay gemm --help"},
        {{"gemm", "--seed", "1", "--seed", "2"}, "--seed", "assay gemm --help"},
        {{"crew-worker"}, "this command is for the program's own children", "assay --help"},
    });
}

TEST_F(ProgramUsage, NamesUnknownValues) {
    expect_all({
        {{"gemm", "--dtype", "fp31"}, "unknown type \"fp31\"", "did you mean \"fp32\"?"},
        {{"gemm", "--dtype", "fp32,"}, "has an empty item", "a,b,c"},
        {{"gemm", "--accumulate", "fp31"}, "unknown type \"fp31\"", "did you mean"},
        {{"gemm", "--shapes", "squares"}, "unknown shape \"squares\"", "did you mean \"square\"?"},
        {{"gemm", "--shapes", "64x64"}, "\"64x64\"", "MxNxK"},
        {{"gemm", "--shapes", "64x64xbig"}, "\"64x64xbig\"", ""},
        {{"gemm", "--tp", "7", "--shapes", "llama3-8b"}, "--tp 7", "divides"},
        {{"gemm", "--tp", "2"}, "--tp 2", "model"},
        {{"gemm", "--layout", "nm"}, "unknown layout \"nm\"", "nn"},
        {{"gemm", "--epilogue", "biass"}, "unknown epilogue \"biass\"", "did you mean \"bias\"?"},
        {{"gemm", "--inputs", "random"}, "\"random\"", "normal"},
        {{"gemm", "--cache", "warm"}, "unknown cache state \"warm\"", "hot"},
        {{"gemm", "--batch", "0"}, "batch", "range"},
        {{"gemm", "--as", "do_bunch"}, "unknown method \"do_bunch\"", "did you mean \"do_bench\"?"},
        {{"gemm", "--sweep", "n"}, "\"n\"", "--sweep n=8064..8320+64"},
        {{"gemm", "--sweep", "z=64..128+64"}, "\"z=64..128+64\"", "--sweep n=8064..8320+64"},
        {{"gemm", "--sweep", "n=64"}, "\"n=64\" has one size", "--sweep n=8064..8320+64"},
        {{"gemm", "--sweep", "n=0..64+32"}, "0 of sweep", "--sweep n=8064..8320+64"},
        {{"gemm", "--sweep", "n=1G..8G*2"}, "2147483648 of sweep", "--sweep n=8064..8320+64"},
        {{"gemm", "--sweep", "n=64..8+1"}, "64..8+1", ""},
        {{"gemm", "--sweep", "n=64..128+64", "--as", "do_bench"}, "--sweep and --as", ""},
        {{"gemm", "--format", "xml"}, "unknown format \"xml\"", "table, json, csv"},
        {{"gemm", "--protocol", "bost"}, "unknown protocol \"bost\"", "did you mean \"boost\"?"},
        {{"attention", "--heads", "12", "--kv-heads", "5"}, "5 kv-heads don't divide 12", "each"},
        {{"attention", "--mask", "causl"}, "unknown mask \"causl\"", "causal"},
        {{"attention", "--mask", "causal+window:0"}, "window:0 sees no key", "at least 1"},
        {{"attention", "--mask", "document:100/200"}, "don't cover a sequence of 1024", "add up"},
        {{"attention", "--mask", "document:no/such/file"}, "no/such/file", ""},
        {{"attention", "--modifier", "softcap"}, "unknown modifier \"softcap\"", "softcap:C"},
        {{"attention", "--pass", "back"}, "unknown pass \"back\"", "backward"},
        {{"attention", "--model", "llama3-8c"}, "llama3-8c", "llama3-8b"},
        {{"attention", "--model", "gpt2-1.5b", "--tp", "2"}, "--tp 2", "divisor"},
        {{"attention", "--lengths", "5/9", "--seq", "9"}, "--lengths and --seq", "leave one out"},
        {{"attention", "--sweep", "heads=1..4+1"}, "\"heads=1..4+1\"", "--sweep dim=64..256+8"},
        {{"attention", "--dtype", "int8"}, "attention in int8", "bf16"},
        {{"memory", "--op", "triat"}, "\"triat\"", "did you mean \"triad\"?"},
        {{"memory", "--size", "64Q"}, "size \"64Q\"", "64K"},
        {{"memory", "--size", "-64"}, "size \"-64\"", "64K"},
        {{"memory", "--size", "0"}, "--size 0", "whole fp32 elements"},
        {{"memory", "--size", "99T..1T*2"}, "99T..1T*2", ""},
        {{"memory", "--numa", "some"}, "unknown numa choice \"some\"", "local, all"},
        {{"run", "--suite", "quik"}, "unknown suite \"quik\"", "did you mean \"quick\"?"},
        {{"info", "--format", "xml"}, "unknown format \"xml\"", "table"},
        {{"info", "--format", "csv"}, "info has no csv", "table or json"},
    });
}

TEST_F(ProgramUsage, NamesNumbersOutOfRange) {
    expect_all({
        {{"gemm", "--shapes", "0x64x64"}, "M of 0x64x64 is 0", "range"},
        {{"gemm", "--shapes", "64x0x64"}, "N of 64x0x64 is 0", "range"},
        {{"gemm", "--shapes", "64x64x-1"}, "K of 64x64x-1 is -1", "range"},
        {{"gemm", "--shapes", "-1x64x64"}, "M of -1x64x64 is -1", "range"},
        {{"gemm", "--shapes", "2147483648x64x64"}, "M of 2147483648x64x64", "range"},
        {{"gemm", "--shapes", "64x99999999999999999999x64"},
         "N of 64x99999999999999999999x64",
         "range"},
        {{"gemm", "--launches", "0"}, "--launches 0", "4"},
        {{"gemm", "--launches", "4294967297"}, "--launches 4294967297", "4"},
        {{"gemm", "--launches", "two"}, "--launches \"two\"", "42"},
        {{"gemm", "--seed", "x"}, "--seed \"x\"", "42"},
        {{"gemm", "--seed", "-1"}, "--seed -1", "0 or more"},
        {{"gemm", "--limit", "-1"}, "\"-1\" is negative", "90s"},
        {{"gemm", "--limit", "0"}, "--limit 0", "500ms"},
        {{"gemm", "--limit", "soon"}, "\"soon\"", "90s"},
        {{"run", "--budget", "0"}, "--budget 0", "1m"},
        {{"run", "--budget", "nan"}, "\"nan\"", "90s"},
    });
}

TEST_F(ProgramUsage, NamesUnknownDevices) {
    expect_all({
        {{"gemm", "--device", "gpu"}, "\"gpu\"", "cpu"},
        {{"gemm", "--device", "cpu:7"}, "cpu:7", ""},
        {{"gemm", "--device", "cpu:x"}, "\"cpu:x\"", ""},
        {{"memory", "--device", ""}, "\"\"", ""},
    });
}

TEST_F(ProgramUsage, HelpAndVersionAreFine) {
    const auto version = run({"--version"});
    expect_fine(version);
    EXPECT_TRUE(version.out.starts_with("assay ")) << version.out;
    for (const Words& command : std::vector<Words>{
             {}, {"run"}, {"info"}, {"gemm"}, {"memory"}, {"attention"}, {"selftest"}}) {
        const auto help = run(command + Words{"--help"});
        expect_fine(help);
        EXPECT_THAT(help.out, testing::HasSubstr("Examples:\n  assay ")) << help.out;
        EXPECT_EQ(help.err, "");
    }
}

TEST_F(ProgramUsage, AFullDiskBehindHelpIsSaid) {
    auto help = program({"gemm", "--help"});
    help.output = "/dev/full";
    expect_complaint(run_program(help), kExitFailed, "standard output", "space");
}

}  // namespace
}  // namespace assay::cli
