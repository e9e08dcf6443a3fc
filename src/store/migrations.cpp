#include "store/migrations.h"

#include <array>

#include <fmt/format.h>

#include "base/error.h"

namespace assay::store {

namespace {

// In the file's header: marks it as ours ("asay").
constexpr std::int64_t kApplicationId = 0x61736179;

// `document` is JSON as docs/assay-1.schema.json has it, a run's without its results; the columns
// beside it are what is listed and searched. `checksum` is the document's SHA-256.
constexpr std::array<const char*, 1> kSteps = {R"(
    CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        started TEXT NOT NULL,
        ended TEXT NOT NULL,
        state TEXT NOT NULL,
        suite TEXT NOT NULL,
        command TEXT NOT NULL,
        host TEXT NOT NULL,
        checksum TEXT NOT NULL,
        document TEXT NOT NULL
    ) STRICT;
    CREATE INDEX runs_by_time ON runs (started, id);
    CREATE TABLE results (
        id INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL REFERENCES runs (id),
        probe TEXT NOT NULL,
        device TEXT NOT NULL,
        identity TEXT NOT NULL,
        status TEXT NOT NULL,
        made TEXT NOT NULL,
        checksum TEXT NOT NULL,
        document TEXT NOT NULL
    ) STRICT;
    CREATE INDEX results_by_run ON results (run_id);
    CREATE INDEX results_by_identity ON results (identity, status);
)"};

// The version of the file; throws when it is no store of ours, or a newer one.
std::size_t version_of(Database& database, std::size_t newest) {
    // The mark last: another process may be making a store of an empty file meanwhile, and then
    // what was read before is too old, never too new.
    const auto tables = database.integer("SELECT count(*) FROM sqlite_schema");
    const auto version = database.integer("PRAGMA user_version");
    const auto application = database.integer("PRAGMA application_id");
    if (application != kApplicationId) {
        if (application == 0 && version == 0 && tables == 0) return 0;
        throw Error(
            fmt::format("store {}: this is another program's database", database.path().string()),
            "choose another place with --store");
    }
    if (version > static_cast<std::int64_t>(newest)) {
        throw Error(fmt::format("store {}: written by a newer assay (layout {}, this one knows {})",
                                database.path().string(), version, newest),
                    "use that version, or choose another place with --store");
    }
    return static_cast<std::size_t>(version);
}

}  // namespace

std::span<const char* const> migration_steps() {
    return kSteps;
}

void migrate(Database& database, std::span<const char* const> steps) {
    if (version_of(database, steps.size()) == steps.size()) return;
    Transaction transaction(database);
    // Read again under the lock: another process may have been first.
    for (auto i = version_of(database, steps.size()); i < steps.size(); ++i) {
        database.execute(steps[i]);
    }
    database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                 kApplicationId, steps.size()));
    transaction.commit();
}

}  // namespace assay::store
