// Where space or shared memory is short.
#include <csignal>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "base/files.h"
#include "store/sqlite_database.h"
#include "store/store_fixture.h"

namespace assay::store {
namespace {

using testing::HasSubstr;

class ShortOfSpace : public StoreFile {
  protected:
    // Adds results until there is no more space; what was stored before stays readable, from the
    // same connection and, once `more_space` gave some, from a new one.
    template <typename MoreSpace>
    void fill_up(MoreSpace more_space) const {
        const record::Run run = run_head();
        int stored = 0;
        {
            const auto store = open_sqlite_store(path_);
            store->begin(run);
            const std::string error = error_of([&] {
                for (; stored < 1000; ++stored) store->add(run.id, numbered_result(stored, 1000));
            });
            EXPECT_EQ(error, "store " + path_.string() + ": no space left");
            EXPECT_GT(stored, 0);
            expect_numbered(store->load(run.id), stored);
            EXPECT_NE(error_of([&] { store->add(run.id, numbered_result(0, 1000)); }), "no error");
        }
        more_space();
        const auto store = open_sqlite_store(path_);
        expect_numbered(store->load(run.id), stored);
        store->add(run.id, numbered_result(stored, 1000));
        expect_numbered(store->load(run.id), stored + 1);
    }

    static void expect_numbered(const record::Run& run, int count) {
        ASSERT_EQ(run.results.size(), static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            ASSERT_EQ(run.results[static_cast<std::size_t>(i)], numbered_result(i, 1000));
        }
    }
};

// A file system of `size` on `folder` that only this process sees. False where the kernel doesn't
// let us.
bool mount_small_disk(const std::filesystem::path& folder, const char* size, unsigned long flags) {
    return mount("none", folder.c_str(), "tmpfs", flags, size) == 0;
}

bool enter_own_mount_namespace() {
    const int own_user = getuid() == 0 ? 0 : CLONE_NEWUSER;
    return unshare(CLONE_NEWNS | own_user) == 0 &&
           mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

TEST_F(ShortOfSpace, AFullDiskIsNamedAndCostsNothingStored) {
    constexpr int kNotAllowed = 77;
    const Child child([&] {
        if (!enter_own_mount_namespace() || !mount_small_disk(folder_, "size=600k", 0)) {
            _exit(kNotAllowed);
        }
        fill_up([&] { EXPECT_TRUE(mount_small_disk(folder_, "size=2m", MS_REMOUNT)); });
    });
    const int status = child.wait();
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) {
        GTEST_SKIP() << "mounting isn't allowed here";
    }
    EXPECT_EQ(status, 0);
}

TEST_F(ShortOfSpace, AFileSizeLimitIsNamedAndCostsNothingStored) {
    const Child child([&] {
        signal(SIGXFSZ, SIG_IGN);
        rlimit limit{};
        ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
        limit.rlim_cur = 300'000;
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
        fill_up([&] {
            limit.rlim_cur = limit.rlim_max;
            ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
        });
    });
    EXPECT_EQ(child.wait(), 0);
}

// As on a network file system: SQLite's `unix-dotfile` has no shared memory.
TEST_F(ShortOfSpace, WorksWithoutSharedMemory) {
    const Child child([&] {
        // The core links SQLite, the tests don't.
        const auto find =
            reinterpret_cast<decltype(&sqlite3_vfs_find)>(dlsym(RTLD_DEFAULT, "sqlite3_vfs_find"));
        const auto make_default = reinterpret_cast<decltype(&sqlite3_vfs_register)>(
            dlsym(RTLD_DEFAULT, "sqlite3_vfs_register"));
        Database(folder_ / "other.db", {});  // initializes SQLite
        ASSERT_EQ(make_default(find("unix-dotfile"), 1), SQLITE_OK);
        const record::Run run = run_head();
        {
            const auto store = open_sqlite_store(path_);
            store->begin(run);
            store->add(run.id, numbered_result(0, 1000));
        }
        EXPECT_EQ(Database(path_, {}).text("PRAGMA journal_mode"), "delete");
        expect_numbered(open_sqlite_store(path_)->load(run.id), 1);
    });
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace assay::store
