#include "cli/assay.h"

#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/time.h"

namespace assay::cli {

const std::vector<std::string> kGemm{"gemm", "--shapes",   "64x64x64", "--cache", "hot", "--device",
                                     "cpu",  "--protocol", "boost",    "--limit", "0.3"};
const std::vector<std::string> kMemory{"memory", "--size",   "32K", "--op",
                                       "copy",   "--device", "cpu", "--protocol",
                                       "boost",  "--limit",  "0.3"};

std::vector<std::string> operator+(std::vector<std::string> words,
                                   const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

Assay::Assay()
    : environment_{{"HOME", scratch_.path()},
                   {"XDG_DATA_HOME", scratch_ / "data"},
                   {"XDG_CACHE_HOME", scratch_ / "cache"},
                   {"TMPDIR", scratch_.path()},
                   {"PATH", std::getenv("PATH")},
                   // A sanitizer would turn a planted crash into an exit.
                   {"ASAN_OPTIONS", "handle_segv=0:handle_abort=0"}} {}

Program Assay::program(const std::vector<std::string>& arguments) const {
    Program program;
    program.argv = std::vector<std::string>{ASSAY_BINARY_DIR "/bin/assay"} + arguments;
    program.environment = environment_;
    return program;
}

Ended Assay::run(const std::vector<std::string>& arguments) const {
    return run_program(program(arguments));
}

std::string Assay::file(const std::string& name, const std::string& content) const {
    write_file(file(name), content);
    return file(name);
}

bool Assay::all_processes_end() const {
    constexpr double kPatience_s = 10;
    const double start = monotonic_seconds();
    while (!processes_with("HOME", scratch_.path()).empty()) {
        if (monotonic_seconds() - start > kPatience_s) return false;
        ::usleep(10'000);
    }
    return true;
}

void expect_complaint(const Ended& ended, int status, const std::string& what,
                      const std::string& hint) {
    EXPECT_EQ(ended.status, status) << ended.err;
    auto lines = split(ended.err, '\n');
    ASSERT_GE(lines.size(), 3u) << ended.err;
    EXPECT_EQ(lines.back(), "");
    lines.pop_back();
    EXPECT_TRUE(lines.back().starts_with("       ")) << ended.err;
    EXPECT_THAT(lines.back(), testing::HasSubstr(hint));
    lines.pop_back();
    EXPECT_TRUE(lines.back().starts_with("assay: ")) << ended.err;
    EXPECT_THAT(lines.back(), testing::HasSubstr(what));
    lines.pop_back();
    for (const auto& line : lines) EXPECT_TRUE(line.starts_with("[")) << ended.err;
}

void expect_fine(const Ended& ended) {
    EXPECT_EQ(ended.status, kExitFine) << ended.err;
    EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("assay: ")));
}

}  // namespace assay::cli
