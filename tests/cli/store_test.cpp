// Stores that can't be used: said before measuring, and never changed.
#include <filesystem>
#include <future>

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "cli/assay.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

// PRAGMA user_version stands there, big end first (sqlite.org/fileformat2.html, 1.3.13).
constexpr std::size_t kUserVersion = 60;

class ProgramStores : public Assay {
  protected:
    // A real store with one run in it.
    std::string store_file() {
        const auto path = file("real.db");
        expect_fine(run(kMemory + Words{"--store", path}));
        return read_file(path);
    }
    void expect_refused(const std::string& path, const std::string& what, const std::string& hint,
                        int status = kExitFailed) {
        const auto ended = run(kMemory + Words{"--store", path});
        expect_complaint(ended, status, what, hint);
        EXPECT_THAT(ended.err, HasSubstr(path));
        EXPECT_THAT(ended.err, Not(HasSubstr("[0/1]"))) << "measured for nothing";
        EXPECT_EQ(ended.out, "");
    }
};

TEST_F(ProgramStores, ANewerVersionIsRefusedAndKept) {
    auto content = store_file();
    ASSERT_GT(content.size(), kUserVersion + 4);
    content.replace(kUserVersion, 4, std::string("\0\0\x27\x0f", 4));
    const auto path = file("newer.db", content);
    expect_refused(path, "written by a newer assay (layout 9999", "--store");
    EXPECT_EQ(read_file(path), content);
}

TEST_F(ProgramStores, ADamagedFileIsRefusedAndKept) {
    auto content = store_file();
    for (std::size_t i = 100; i < content.size(); ++i) content[i] = static_cast<char>(i * 37);
    const auto damaged = file("damaged.db", content);
    expect_refused(damaged, "damaged", "move it away");
    EXPECT_EQ(read_file(damaged), content);

    const std::string prose(5000, 'x');
    const auto text = file("notes.txt", prose);
    expect_refused(text, "no SQLite database", "move it away");
    EXPECT_EQ(read_file(text), prose);
}

TEST_F(ProgramStores, AFolderIsRefused) {
    std::filesystem::create_directory(file("folder"));
    expect_refused(file("folder"), "this is a folder", "assay.db", kExitUsage);
}

TEST_F(ProgramStores, APlaceThatCannotBeWrittenIsRefused) {
    expect_refused("/proc/assay/assay.db", "folder can't be made", "--store");
    if (::geteuid() != 0) {  // root may write anywhere
        std::filesystem::create_directory(file("locked"));
        ::chmod(file("locked").c_str(), 0500);
        expect_refused(file("locked/assay.db"), "can't be opened", "");
    }
}

TEST_F(ProgramStores, AnUnknownSchemeIsAUsageError) {
    expect_complaint(run(kMemory + Words{"--store", "mysql://host/db"}), kExitUsage, "mysql",
                     "sqlite:PATH");
}

TEST_F(ProgramStores, NoneKeepsNothing) {
    expect_fine(run(kMemory + Words{"--store", "none"}));
    EXPECT_FALSE(std::filesystem::exists(store_path()));
}

TEST_F(ProgramStores, TheDefaultKeepsEachRun) {
    expect_fine(run(kMemory));
    expect_fine(run(kMemory));
    ASSERT_EQ(store()->runs().size(), 2u);
    const auto last = stored();
    EXPECT_EQ(last.state, record::RunState::complete);
    ASSERT_EQ(last.results.size(), 1u);
    EXPECT_EQ(last.results[0].probe, "memory");
    EXPECT_FALSE(last.results[0].launches.at(0).samples.at("time").values.empty());
}

TEST_F(ProgramStores, RunsThatStartTogetherAllKeepTheirs) {
    constexpr std::size_t kRuns = 4;
    std::vector<std::future<Ended>> runs;
    for (std::size_t i = 0; i < kRuns; ++i) {
        runs.push_back(std::async(std::launch::async, [&] { return run(kMemory); }));
    }
    for (auto& one : runs) expect_fine(one.get());
    ASSERT_EQ(store()->runs().size(), kRuns);
    for (const auto& head : store()->runs()) EXPECT_EQ(head.results, 1u);
}

}  // namespace
}  // namespace assay::cli
