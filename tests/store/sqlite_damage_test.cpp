// Files that are damaged, foreign, of another version, or that can't be written.
#include <fstream>
#include <random>

#include <gmock/gmock.h>

#include "base/files.h"
#include "store/sqlite_database.h"
#include "store/store_fixture.h"

namespace assay::store {
namespace {

using std::chrono::milliseconds;
using testing::AnyOf;
using testing::HasSubstr;

class DamagedStore : public StoreFile {
  protected:
    void SetUp() override {
        StoreFile::SetUp();
        const auto store = open_sqlite_store(path_);
        for (record::Run& run : runs_) {
            store->begin(run);
            for (int i = 0; i < 8; ++i) {
                run.results.push_back(numbered_result(i, 200));
                store->add(run.id, run.results.back());
            }
            store->end(run);
        }
    }

    void write_bytes(const std::string& bytes) const {
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    }

    // Every result that can be read is one that was stored; everything else is an Error.
    // Returns how many errors there were.
    int errors_reading() const {
        int errors = 0;
        for (const record::Run& run : runs_) {
            try {
                for (const auto& result : open_sqlite_store(path_)->load(run.id).results) {
                    EXPECT_THAT(run.results, testing::Contains(result));
                }
            } catch (const Error& error) {
                EXPECT_THAT(error.what(), HasSubstr(path_.string()));
                ++errors;
            }
        }
        return errors;
    }

    std::vector<record::Run> runs_ = {run_head(), run_head()};
};

TEST_F(DamagedStore, AnOverwrittenHeaderIsNoDatabase) {
    std::string bytes = read_file(path_);
    bytes.replace(0, 100, 100, '\xaa');
    write_bytes(bytes);
    EXPECT_THAT(error_of([&] { open_sqlite_store(path_); }),
                HasSubstr(path_.string() + ": this is no SQLite database"));
    EXPECT_EQ(read_file(path_), bytes);
}

TEST_F(DamagedStore, NoOverwrittenPageGivesAWrongResult) {
    constexpr std::size_t kPage = 4096;
    const std::string bytes = read_file(path_);
    ASSERT_GT(bytes.size(), 10 * kPage);
    int errors = 0;
    for (std::size_t page = 0; page < bytes.size() / kPage; ++page) {
        std::string damaged = bytes;
        damaged.replace(page * kPage, kPage, kPage, '7');
        write_bytes(damaged);
        errors += errors_reading();
    }
    EXPECT_GT(errors, 10);
    write_bytes(bytes);
    EXPECT_EQ(errors_reading(), 0);
}

TEST_F(DamagedStore, NoChangedByteGivesAWrongResult) {
    const std::string bytes = read_file(path_);
    std::mt19937_64 random(5);
    int errors = 0;
    for (int i = 0; i < 120; ++i) {
        std::string damaged = bytes;
        char& byte = damaged[random() % damaged.size()];
        byte = static_cast<char>(byte ^ (1 << random() % 8));
        write_bytes(damaged);
        errors += errors_reading();
    }
    EXPECT_GT(errors, 30);
}

TEST_F(DamagedStore, DamageInOneRunLeavesTheOthers) {
    std::string bytes = read_file(path_);
    // A digit of a sample of the first run: SQLite itself can't tell.
    const auto digits = bytes.find("0.333333");
    ASSERT_NE(digits, std::string::npos);
    bytes[digits + 5] = '4';
    write_bytes(bytes);
    const auto store = open_sqlite_store(path_);
    EXPECT_THAT(error_of([&] { store->load(runs_[0].id); }),
                HasSubstr("run " + runs_[0].id + " is damaged"));
    EXPECT_EQ(store->load(runs_[1].id), runs_[1]);
}

TEST_F(DamagedStore, ATruncatedFileIsAnErrorAndStaysAsItIs) {
    const std::string bytes = read_file(path_);
    for (const std::size_t size : {std::size_t{50}, std::size_t{100}, std::size_t{4096},
                                   bytes.size() / 2, bytes.size() - 4096}) {
        write_bytes(bytes.substr(0, size));
        EXPECT_EQ(errors_reading(), 2) << size;
        EXPECT_EQ(read_file(path_).size(), size);
    }
}

class OtherFile : public StoreFile {};

TEST_F(OtherFile, AnEmptyFileBecomesAStore) {
    std::ofstream(path_).close();
    const record::Run run = run_head();
    open_sqlite_store(path_)->begin(run);
    EXPECT_EQ(open_sqlite_store(path_)->load("latest").id, run.id);
}

TEST_F(OtherFile, TextIsRefusedAndStaysAsItIs) {
    const std::string text(5000, 'x');
    std::ofstream(path_) << text;
    EXPECT_THAT(error_of([&] { open_sqlite_store(path_); }),
                HasSubstr("this is no SQLite database"));
    EXPECT_EQ(read_file(path_), text);
}

TEST_F(OtherFile, AnotherProgramsDatabaseIsRefusedAndStaysAsItIs) {
    for (const char* mode : {"DELETE", "WAL"}) {
        std::filesystem::remove(path_);
        Database(path_, milliseconds(50))
            .execute(std::string("PRAGMA journal_mode = ") + mode + "; CREATE TABLE theirs (x)");
        const std::string bytes = read_file(path_);
        EXPECT_EQ(error_of([&] { open_sqlite_store(path_); }),
                  "store " + path_.string() + ": this is another program's database");
        EXPECT_EQ(read_file(path_), bytes);
    }
}

TEST_F(OtherFile, ANewerStoreIsRefusedAndStaysAsItIs) {
    const record::Run run = run_head();
    open_sqlite_store(path_)->begin(run);
    Database(path_, milliseconds(50)).execute("PRAGMA user_version = 99");
    const std::string bytes = read_file(path_);
    EXPECT_THAT(error_of([&] { open_sqlite_store(path_); }),
                HasSubstr("written by a newer assay (layout 99, this one knows"));
    EXPECT_EQ(read_file(path_), bytes);
    Database(path_, milliseconds(50)).execute("PRAGMA user_version = 1");
    EXPECT_EQ(open_sqlite_store(path_)->load(run.id).id, run.id);
}

TEST_F(OtherFile, AnUnwritablePlaceIsNamed) {
    const record::Run run = run_head();
    open_sqlite_store(path_)->begin(run);
    std::filesystem::permissions(path_, std::filesystem::perms(0444));
    std::filesystem::permissions(folder_, std::filesystem::perms(0555));
    const Child child([&] {
        // Root may write anywhere: become nobody.
        if (getuid() == 0) {
            ASSERT_EQ(setgid(65534), 0);
            ASSERT_EQ(setuid(65534), 0);
        }
        EXPECT_THAT(error_of([&] { open_sqlite_store(folder_ / "new.db"); }),
                    HasSubstr((folder_ / "new.db").string() + ": it can't be opened"));
        EXPECT_THAT(error_of([&] { open_sqlite_store(folder_ / "new" / "assay.db"); }),
                    HasSubstr("its folder can't be made: Permission denied"));
        EXPECT_THAT(error_of([&] { open_sqlite_store(path_)->add(run.id, numbered_result(1)); }),
                    AnyOf(HasSubstr("it can't be written"), HasSubstr("it can't be opened")));
    });
    EXPECT_EQ(child.wait(), 0);
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    std::filesystem::permissions(path_, std::filesystem::perms(0644));
    EXPECT_TRUE(open_sqlite_store(path_)->load(run.id).results.empty());
}

}  // namespace
}  // namespace assay::store
