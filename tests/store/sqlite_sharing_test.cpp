// Several processes at one store, and processes that die.
#include <csignal>
#include <future>
#include <thread>

#include <gmock/gmock.h>

#include "store/sqlite_database.h"
#include "store/store_fixture.h"

namespace assay::store {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class SharedStore : public StoreFile {};

TEST_F(SharedStore, ProcessesThatWriteAtOnceLoseNothing) {
    constexpr int kProcesses = 2;
    constexpr int kResults = 150;
    std::vector<record::Run> runs;
    std::vector<Child> children;
    // No store exists yet: they race to make it, too.
    for (int i = 0; i < kProcesses; ++i) runs.push_back(run_head());
    for (const record::Run& run : runs) {
        children.emplace_back([&] {
            const auto store = open_sqlite_store(path_);
            store->begin(run);
            for (int i = 0; i < kResults; ++i) store->add(run.id, numbered_result(i));
            store->end(run);
        });
    }
    for (const Child& child : children) EXPECT_EQ(child.wait(), 0);
    const auto store = open_sqlite_store(path_);
    for (record::Run& run : runs) {
        for (int i = 0; i < kResults; ++i) run.results.push_back(numbered_result(i));
        EXPECT_EQ(store->load(run.id), run);
    }
    EXPECT_EQ(store->history(numbered_result(0).identity()).size(), std::size_t{kProcesses});
}

TEST_F(SharedStore, ProcessesThatOpenAtOnceAllSucceed) {
    for (int round = 0; round < 10; ++round) {
        std::filesystem::remove_all(folder_);
        std::vector<Child> children;
        for (int i = 0; i < 6; ++i) children.emplace_back([&] { open_sqlite_store(path_); });
        for (const Child& child : children) ASSERT_EQ(child.wait(), 0);
    }
}

TEST_F(SharedStore, AKilledProcessCostsNoEarlierResult) {
    for (int round = 0; round < 5; ++round) {
        const record::Run run = run_head();
        int acknowledged[2];
        ASSERT_EQ(pipe(acknowledged), 0);
        const Child child([&] {
            const auto store = open_sqlite_store(path_);
            store->begin(run);
            for (int i = 0;; ++i) {
                store->add(run.id, numbered_result(i, 5000));
                if (write(acknowledged[1], "", 1) != 1) return;
            }
        });
        close(acknowledged[1]);
        std::size_t kept = 0;
        char byte = 0;
        while (kept < 10 && read(acknowledged[0], &byte, 1) == 1) ++kept;
        std::this_thread::sleep_for(milliseconds(round));
        kill(child.pid(), SIGKILL);
        EXPECT_TRUE(WIFSIGNALED(child.wait()));
        while (read(acknowledged[0], &byte, 1) == 1) ++kept;
        close(acknowledged[0]);

        const auto store = open_sqlite_store(path_);
        const record::Run left = store->load(run.id);
        EXPECT_EQ(left.state, record::RunState::failed);
        ASSERT_GE(left.results.size(), kept);
        EXPECT_LE(left.results.size(), kept + 1);  // stored, but killed before it could say so
        for (std::size_t i = 0; i < left.results.size(); ++i) {
            ASSERT_EQ(left.results[i], numbered_result(static_cast<int>(i), 5000));
        }
        store->add(run.id, numbered_result(0));  // no lock is left behind
    }
}

TEST_F(SharedStore, ALockedFileIsNamedAfterTheWait) {
    const auto store = open_sqlite_store(path_, milliseconds(50));
    const record::Run run = run_head();
    store->begin(run);
    Database other(path_, milliseconds(50));
    other.execute("BEGIN EXCLUSIVE");
    EXPECT_EQ(error_of([&] { store->add(run.id, numbered_result(1)); }),
              "store " + path_.string() + ": another assay holds it (waited 0.05 s)");
    EXPECT_EQ(store->load(run.id).id, run.id);  // reading goes on
    other.execute("ROLLBACK");
    store->add(run.id, numbered_result(2));
    ASSERT_EQ(store->load(run.id).results.size(), 1u);
    EXPECT_EQ(store->load(run.id).results[0], numbered_result(2));
}

TEST_F(SharedStore, AFileHeldAsAWholeIsNamedAtOpening) {
    open_sqlite_store(path_);
    Database other(path_, milliseconds(50));
    other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    EXPECT_THAT(error_of([&] { open_sqlite_store(path_, milliseconds(50)); }),
                HasSubstr(path_.string() + ": another assay holds it"));
}

TEST_F(SharedStore, WaitsForALockThatIsGivenBack) {
    const auto store = open_sqlite_store(path_);
    const record::Run run = run_head();
    store->begin(run);
    std::promise<void> locked;
    std::thread holder([&] {
        Database other(path_, milliseconds(50));
        other.execute("BEGIN EXCLUSIVE");
        locked.set_value();
        std::this_thread::sleep_for(milliseconds(50));
        other.execute("ROLLBACK");
    });
    locked.get_future().wait();
    store->add(run.id, numbered_result(1));
    holder.join();
    EXPECT_EQ(store->load(run.id).results.size(), 1u);
}

}  // namespace
}  // namespace assay::store
