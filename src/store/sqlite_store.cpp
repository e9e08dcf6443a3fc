#include "store/sqlite_store.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/time.h"
#include "record/json.h"
#include "store/migrations.h"
#include "store/sqlite_database.h"

namespace assay::store {

namespace {

// The run as a document without its results, which have a table of their own.
Json without_results(const record::Run& run) {
    return record::to_json(run, "results", Json::array());
}

class SqliteStore : public Store {
  public:
    SqliteStore(const std::filesystem::path& path, std::chrono::milliseconds patience);

    void begin(const record::Run& head) override;
    void add(const std::string& run_id, const record::Result& result) override;
    void end(const record::Run& run) override;
    std::vector<RunHead> runs() override;
    record::Run load(const std::string& id) override;
    std::vector<record::Result> history(const std::string& identity) override;
    std::string describe() const override { return database_.path().string(); }

  private:
    [[noreturn]] void fail_missing(const std::string& id);
    std::string newest_id();  // "" when there is no run
    std::string full_id(const std::string& id);
    // A row that begins with run_id, checksum and document.
    Json verified_document(const Statement& row) const;

    Database database_;
};

SqliteStore::SqliteStore(const std::filesystem::path& path, std::chrono::milliseconds patience)
    : database_(path, patience) {
    // Until the file is known to be ours and of this version, it must stay as it is.
    database_.merge_log_on_close(false);
    migrate(database_);
    database_.merge_log_on_close(true);
    if (!database_.read_only()) database_.use_write_ahead_log();
    // EXTRA: durable at commit also where the file system can't keep a write-ahead log.
    database_.execute("PRAGMA synchronous = EXTRA; PRAGMA foreign_keys = ON");
}

void SqliteStore::begin(const record::Run& head) {
    const auto state = record::RunState::failed;
    Json json = without_results(head);
    json["run"]["state"] = name(state);
    const std::string document = dump_line(json);
    Transaction transaction(database_);
    Statement(database_,
              "INSERT INTO runs (id, started, ended, state, suite, command, host, checksum,"
              " document) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
        .bind(head.id, head.started, head.ended, name(state), head.suite, join(head.command, " "),
              head.provenance.host, sha256(document), document)
        .run();
    transaction.commit();
}

void SqliteStore::add(const std::string& run_id, const record::Result& result) {
    const std::string document = dump_line(record::to_json(result));
    Transaction transaction(database_);
    Statement(database_,
              "INSERT INTO results (run_id, probe, device, identity, status, made, checksum,"
              " document) SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM runs WHERE id = ?1")
        .bind(run_id, result.probe, result.device, result.identity(), name(result.status),
              utc_now(), sha256(document), document)
        .run();
    if (database_.changes() == 0) fail_missing(run_id);
    transaction.commit();
}

void SqliteStore::end(const record::Run& run) {
    const std::string document = dump_line(without_results(run));
    Transaction transaction(database_);
    Statement(database_,
              "UPDATE runs SET ended = ?2, state = ?3, checksum = ?4, document = ?5 WHERE id = ?1")
        .bind(run.id, run.ended, name(run.state), sha256(document), document)
        .run();
    if (database_.changes() == 0) fail_missing(run.id);
    transaction.commit();
}

std::vector<RunHead> SqliteStore::runs() {
    Statement rows(database_,
                   "SELECT id, started, ended, state, suite, command, host,"
                   " (SELECT count(*) FROM results WHERE run_id = runs.id)"
                   " FROM runs ORDER BY started DESC, id DESC");
    std::vector<RunHead> heads;
    while (rows.step()) {
        heads.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3), rows.text(4),
                         rows.text(5), rows.text(6), static_cast<std::size_t>(rows.integer(7))});
    }
    return heads;
}

record::Run SqliteStore::load(const std::string& id) {
    const std::string run_id = full_id(id);
    Statement head(database_, "SELECT id, checksum, document FROM runs WHERE id = ?1");
    head.bind(run_id).step();
    record::Run run = record::run_from_json(verified_document(head));
    Statement rows(database_,
                   "SELECT run_id, checksum, document FROM results WHERE run_id = ?1 ORDER BY id");
    rows.bind(run_id);
    while (rows.step()) run.results.push_back(record::result_from_json(verified_document(rows)));
    return run;
}

std::vector<record::Result> SqliteStore::history(const std::string& identity) {
    Statement rows(database_,
                   "SELECT run_id, checksum, document FROM results"
                   " WHERE identity = ?1 AND status = 'ok' ORDER BY id");
    rows.bind(identity);
    std::vector<record::Result> results;
    while (rows.step()) results.push_back(record::result_from_json(verified_document(rows)));
    return results;
}

std::string SqliteStore::newest_id() {
    return database_.text("SELECT id FROM runs ORDER BY started DESC, id DESC LIMIT 1");
}

void SqliteStore::fail_missing(const std::string& id) {
    const std::string newest = newest_id();
    throw UsageError(fmt::format("store {}: no run \"{}\"", describe(), id),
                     newest.empty() ? "it holds no run yet" : "its newest run is " + newest);
}

std::string SqliteStore::full_id(const std::string& id) {
    if (id == "latest") {
        std::string newest = newest_id();
        if (newest.empty()) fail_missing(id);
        return newest;
    }
    Statement rows(database_,
                   "SELECT id FROM runs WHERE upper(substr(id, 1, length(?1))) = upper(?1)"
                   " ORDER BY id LIMIT 2");
    rows.bind(id);
    if (!rows.step()) fail_missing(id);
    std::string found = rows.text(0);
    if (rows.step()) {
        throw UsageError(
            fmt::format("store {}: more than one run begins with \"{}\"", describe(), id),
            fmt::format("give more of it: {} or {}", found, rows.text(0)));
    }
    return found;
}

Json SqliteStore::verified_document(const Statement& row) const {
    const std::string document = row.text(2);
    const std::string source = fmt::format("store {}: run {}", describe(), row.text(0));
    // SQLite notices damage to its own structure; this notices a changed digit in a document.
    if (sha256(document) != row.text(1)) {
        throw Error(source + " is damaged: a document isn't what was stored",
                    "the other runs can still be read");
    }
    return parse_json(document, source);
}

}  // namespace

std::unique_ptr<Store> open_sqlite_store(const std::filesystem::path& path,
                                         std::chrono::milliseconds patience) {
    // Absolute: the name ":memory:" means something else to SQLite, and a child may change folder.
    const auto file = std::filesystem::absolute(path);
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) {
        throw UsageError(fmt::format("store {}: this is a folder", file.string()),
                         fmt::format("give a file: --store {}", (file / "assay.db").string()));
    }
    std::filesystem::create_directories(file.parent_path(), error);
    if (error) {
        throw Error(
            fmt::format("store {}: its folder can't be made: {}", file.string(), error.message()),
            "choose another place with --store, or none to keep nothing");
    }
    return std::make_unique<SqliteStore>(file, patience);
}

}  // namespace assay::store
