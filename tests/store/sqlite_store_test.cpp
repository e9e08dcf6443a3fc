#include "store/sqlite_store.h"

#include <gmock/gmock.h>

#include "record/json.h"
#include "record/random_record.h"
#include "store/store_fixture.h"

namespace assay::store {
namespace {

using testing::HasSubstr;

class SqliteStore : public StoreFile {};

TEST_F(SqliteStore, GivesBackWhatWasStored) {
    record::RandomRecord random(3, /*with_nan=*/false);
    const record::Run run = random.run(20);
    {
        const auto store = open_sqlite_store(path_);
        store->begin(run);
        for (const record::Result& result : run.results) store->add(run.id, result);
        store->end(run);
        EXPECT_EQ(store->load(run.id), run);
    }
    EXPECT_EQ(open_sqlite_store(path_)->load(run.id), run);
}

TEST_F(SqliteStore, ARunIsFailedUntilItEnds) {
    record::Run run = run_head();
    const auto store = open_sqlite_store(path_);
    store->begin(run);
    store->add(run.id, numbered_result(1));
    EXPECT_EQ(store->load(run.id).state, record::RunState::failed);
    EXPECT_EQ(store->runs()[0].state, "failed");
    EXPECT_EQ(store->runs()[0].ended, "");
    run.ended = "2026-11-30T22:12:07Z";
    run.state = record::RunState::interrupted;
    run.findings.emplace_back().rule = "above-peak";
    run.provenance.devices.emplace_back().id = "cpu";
    store->end(run);
    run.results = {numbered_result(1)};
    EXPECT_EQ(store->load(run.id), run);
    EXPECT_EQ(store->runs()[0].state, "interrupted");
    EXPECT_EQ(store->runs()[0].ended, run.ended);
}

TEST_F(SqliteStore, ListsRunsNewestFirst) {
    const auto store = open_sqlite_store(path_);
    record::Run first = run_head();
    record::Run second = run_head();
    first.started = "2026-11-30T22:11:07Z";
    second.started = "2026-11-30T22:11:06Z";
    store->begin(first);
    store->begin(second);
    store->add(second.id, numbered_result(1));
    store->add(second.id, numbered_result(2));
    const auto runs = store->runs();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].id, first.id);
    EXPECT_EQ(runs[0].command, "assay gemm");
    EXPECT_EQ(runs[0].suite, "quick");
    EXPECT_EQ(runs[0].host, "here");
    EXPECT_EQ(runs[0].results, 0u);
    EXPECT_EQ(runs[1].id, second.id);
    EXPECT_EQ(runs[1].results, 2u);
    EXPECT_EQ(store->load("latest").id, first.id);
}

TEST_F(SqliteStore, FindsARunByAUniquePrefix) {
    const auto store = open_sqlite_store(path_);
    record::Run one = run_head();
    record::Run two = run_head();
    one.id = "01KAAAAAAAAAAAAAAAAAAAAAAA";
    two.id = "01KABBBBBBBBBBBBBBBBBBBBBB";
    store->begin(one);
    store->begin(two);
    EXPECT_EQ(store->load("01KAA").id, one.id);
    EXPECT_EQ(store->load("01kab").id, two.id);
    EXPECT_EQ(store->load(two.id).id, two.id);
    EXPECT_THAT(error_of([&] { store->load("01KA"); }), HasSubstr("more than one run"));
    EXPECT_THAT(error_of([&] { store->load("%"); }), HasSubstr("no run \"%\""));
    EXPECT_THROW(store->load(one.id + "A"), UsageError);
}

TEST_F(SqliteStore, AMissingRunIsAUsageError) {
    const auto store = open_sqlite_store(path_);
    EXPECT_THROW(store->load("latest"), UsageError);
    EXPECT_THROW(store->load("01K"), UsageError);
    EXPECT_THAT(error_of([&] { store->add("01K", numbered_result(1)); }),
                HasSubstr("no run \"01K\""));
    EXPECT_THAT(error_of([&] { store->end(run_head()); }), HasSubstr("no run"));
}

TEST_F(SqliteStore, ARefusedResultLeavesNothingBehind) {
    const auto store = open_sqlite_store(path_);
    error_of([&] { store->add("01K", numbered_result(1)); });
    const record::Run run = run_head();
    store->begin(run);  // the transaction before is over
    EXPECT_TRUE(store->history(numbered_result(1).identity()).empty());
    EXPECT_THROW(store->begin(run), Error);
    store->add(run.id, numbered_result(1));
    EXPECT_EQ(store->load(run.id).results.size(), 1u);
}

TEST_F(SqliteStore, HistoryIsOfOneIdentityOkOnlyOldestFirst) {
    const auto store = open_sqlite_store(path_);
    std::vector<record::Result> expected;
    for (int night = 0; night < 3; ++night) {
        const record::Run run = run_head();
        store->begin(run);
        store->add(run.id, numbered_result(1));
        record::Result result = numbered_result(2);
        result.metrics[0].value = night;
        store->add(run.id, result);
        expected.push_back(result);
        result.status = record::Status::failed;
        store->add(run.id, result);
        result.status = record::Status::ok;
        result.conditions.protocol = "sustained";
        store->add(run.id, result);
    }
    EXPECT_EQ(store->history(numbered_result(2).identity()), expected);
    EXPECT_TRUE(store->history("gemm").empty());
}

TEST_F(SqliteStore, KeepsNaNAndBytesThatAreNoText) {
    const auto store = open_sqlite_store(path_);
    record::Run run = run_head();
    run.suite = std::string("a\0b\xff", 4);
    store->begin(run);
    record::Result result = numbered_result(1);
    result.metrics[0].value = std::nan("");
    store->add(run.id, result);
    const record::Run again = store->load(run.id);
    EXPECT_TRUE(std::isnan(again.results[0].metrics[0].value));
    EXPECT_EQ(store->runs()[0].suite, run.suite);
}

}  // namespace
}  // namespace assay::store
