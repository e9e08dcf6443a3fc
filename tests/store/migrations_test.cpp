#include "store/migrations.h"

#include <array>

#include <gmock/gmock.h>

#include "base/files.h"
#include "store/store_fixture.h"

namespace assay::store {
namespace {

using std::chrono::milliseconds;

class Migrations : public StoreFile {
  protected:
    static constexpr std::array<const char*, 2> kTwo = {
        "CREATE TABLE runs (id TEXT); INSERT INTO runs VALUES ('kept')",
        "ALTER TABLE runs ADD COLUMN host TEXT NOT NULL DEFAULT 'unknown'"};
    static constexpr std::span<const char* const> kOne{kTwo.data(), 1};
};

TEST_F(Migrations, MakeANewFileAStoreOfTheNewestVersion) {
    Database database(path_, milliseconds(50));
    migrate(database);
    EXPECT_EQ(database.integer("PRAGMA user_version"),
              static_cast<std::int64_t>(migration_steps().size()));
    EXPECT_NE(database.integer("PRAGMA application_id"), 0);
    EXPECT_EQ(database.integer("SELECT count(*) FROM runs"), 0);
}

TEST_F(Migrations, BringAnOlderStoreUpAndKeepItsRows) {
    {
        Database database(path_, milliseconds(50));
        migrate(database, kOne);
        EXPECT_EQ(database.integer("PRAGMA user_version"), 1);
    }
    Database database(path_, milliseconds(50));
    migrate(database, kTwo);
    EXPECT_EQ(database.integer("PRAGMA user_version"), 2);
    EXPECT_EQ(database.text("SELECT id || ' ' || host FROM runs"), "kept unknown");
    migrate(database, kTwo);  // nothing left to do
    EXPECT_EQ(database.integer("SELECT count(*) FROM runs"), 1);
}

TEST_F(Migrations, AStepThatFailsLeavesTheOldVersionWhole) {
    Database database(path_, milliseconds(50));
    migrate(database, kOne);
    const std::array<const char*, 3> broken = {
        kTwo[0], "CREATE TABLE extra (x); INSERT INTO runs VALUES ('half')", "NO SQL"};
    EXPECT_THROW(migrate(database, broken), Error);
    EXPECT_EQ(database.integer("PRAGMA user_version"), 1);
    EXPECT_EQ(database.integer("SELECT count(*) FROM runs"), 1);
    EXPECT_EQ(database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), 0);
}

TEST_F(Migrations, ANewerVersionIsRefused) {
    Database database(path_, milliseconds(50));
    migrate(database, kTwo);
    EXPECT_THROW(migrate(database, kOne), Error);
    EXPECT_EQ(database.integer("PRAGMA user_version"), 2);
}

}  // namespace
}  // namespace assay::store
