// The documents: valid by the schema, the same under every locale, clean of progress.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/assay.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

const Words kJson{"--format", "json"};

class ProgramFormats : public Assay {
  protected:
    // "ok", or where the document breaks docs/assay-1.schema.json.
    std::string verdict_of_schema(const std::string& document) {
        const auto in = file("document.json", document);
        const auto command = fmt::format(
            "python3 '{0}/tests/record/validate.py' '{0}/docs/assay-1.schema.json' "
            "< '{1}' > '{1}.verdict'",
            ASSAY_SOURCE_DIR, in);
        EXPECT_EQ(std::system(command.c_str()), 0) << "wants Debian's python3-jsonschema";
        return std::string(trim(read_file(in + ".verdict")));
    }
};

TEST_F(ProgramFormats, JsonIsValidByTheSchema) {
    for (const Words& arguments : {kMemory + Words{"--launches", "2"},
                                   kGemm + Words{"--dtype", "fp32,fp8_e4m3fn"}, Words{"info"}}) {
        SCOPED_TRACE(testing::PrintToString(arguments));
        const auto ended = run(arguments + kJson);
        expect_fine(ended);
        EXPECT_EQ(verdict_of_schema(ended.out), "ok");
        EXPECT_EQ(std::ranges::count(ended.out, '\n'), 1);
    }
    // Whether the timer is found straight depends on what else runs here; the document doesn't.
    auto whole = program(Words{"selftest", "--device", "cpu", "--protocol", "boost"} + kJson);
    whole.limit_s = 110;  // under a sanitizer on a busy machine it takes over a minute
    const auto selftest = run_program(whole);
    EXPECT_THAT(selftest.status, testing::AnyOf(kExitFine, kExitFailed)) << selftest.err;
    EXPECT_EQ(verdict_of_schema(selftest.out), "ok");
}

TEST_F(ProgramFormats, CsvParses) {
    const auto ended = run({"memory", "--size", "32K,64T", "--op", "copy", "--device", "cpu",
                            "--protocol", "boost", "--limit", "0.3", "--format", "csv"});
    expect_fine(ended);
    const auto path = file("r.csv", ended.out);
    // By a reader that isn't ours.
    const auto script = file("read.py", R"(
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline=""), strict=True))
assert [r["status"] for r in rows] == ["ok", "ok", "skipped"], rows
assert rows[0]["metric"] == "bandwidth" and float(rows[0]["value"]) > 0, rows[0]
assert float(rows[0]["interval_low"]) <= float(rows[0]["value"]) <= float(rows[0]["interval_high"])
assert "64T" in rows[2]["reason"] and None not in rows[2], rows[2]
)");
    EXPECT_EQ(std::system(fmt::format("python3 '{}' '{}'", script, path).c_str()), 0) << ended.out;
}

TEST_F(ProgramFormats, ProgressGoesToStandardErrorInPlainLines) {
    const auto ended = run(kMemory);
    expect_fine(ended);
    EXPECT_THAT(ended.err, HasSubstr("[0/1] memory boost op=copy size=32K"));
    EXPECT_THAT(ended.err, Not(HasSubstr("\x1b")));
    EXPECT_THAT(ended.err, Not(HasSubstr("\r")));
    EXPECT_THAT(ended.out, HasSubstr("memory on cpu"));
    EXPECT_THAT(ended.out, Not(HasSubstr("[0/1]")));
    EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
    EXPECT_EQ(run(kMemory + Words{"--quiet"}).err, "");
}

TEST_F(ProgramFormats, ADecimalCommaChangesNothing) {
    // Most containers have no such locale installed, but can make one.
    file("source", "LC_NUMERIC\ncopy \"de_DE\"\nEND LC_NUMERIC\n");
    const auto command =
        fmt::format("localedef -c -i {0}/source -f UTF-8 {0}/de_DE.UTF-8 >/dev/null 2>&1",
                    scratch_.path().string());
    [[maybe_unused]] const int status = std::system(command.c_str());
    environment_["LOCPATH"] = scratch_.path();
    environment_["LC_ALL"] = "de_DE.UTF-8";
    environment_["LANG"] = "de_DE.UTF-8";
    const auto ended = run(kMemory + kJson);
    expect_fine(ended);
    const auto document = parse_json(ended.out, "standard output");
    EXPECT_GT(number_of(document["results"][0]["metrics"][0]["value"]), 0);
    EXPECT_EQ(verdict_of_schema(ended.out), "ok");
    EXPECT_THAT(run(kMemory).out, testing::ContainsRegex("bandwidth +[0-9]+\\.[0-9]+ +GB/s"));
}

}  // namespace
}  // namespace assay::cli
