#include "store/sqlite_database.h"

#include <cerrno>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/error.h"

namespace assay::store {

namespace {

constexpr auto kFull =
    "free some space, or choose another place with --store; what was stored before is kept";
constexpr auto kPermission = "check its permissions, or choose another place with --store";

bool out_of_space(int system_error) {
    return system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const {
    sqlite3_close_v2(handle);
}

Database::Database(const std::filesystem::path& path, std::chrono::milliseconds patience)
    : path_(path), patience_(patience) {
    sqlite3* handle = nullptr;
    const int code =
        sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    handle_.reset(handle);
    if (handle == nullptr) throw Error(fmt::format("store {}: out of memory", path_.string()));
    if (code != SQLITE_OK) fail();
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, static_cast<int>(patience.count()));
}

bool Database::read_only() const {
    return sqlite3_db_readonly(handle_.get(), "main") == 1;
}

void Database::execute(const std::string& statements) {
    if (sqlite3_exec(handle_.get(), statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        fail();
    }
}

std::int64_t Database::integer(const std::string& query) {
    Statement statement(*this, query);
    return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(const std::string& query) {
    Statement statement(*this, query);
    return statement.step() ? statement.text(0) : "";
}

int Database::changes() const {
    return sqlite3_changes(handle_.get());
}

void Database::merge_log_on_close(bool allowed) {
    sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, allowed ? 0 : 1, nullptr);
}

void Database::use_write_ahead_log() {
    // The change needs the file for itself, and SQLite doesn't always wait for that.
    const auto deadline = std::chrono::steady_clock::now() + patience_;
    const auto change = [this] {
        return sqlite3_exec(handle_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    };
    int code = change();
    while ((code & 0xff) == SQLITE_BUSY && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        code = change();
    }
    if (code != SQLITE_OK) fail();
}

void Database::fail() const {
    // SQLite leaves its own record of the system's error empty when a commit fails.
    const int last_error = errno;
    const int code = sqlite3_errcode(handle_.get()) & 0xff;  // without its extension
    const int recorded_error = sqlite3_system_errno(handle_.get());
    const int system_error = recorded_error != 0 ? recorded_error : last_error;
    const std::string store = "store " + path_.string();
    const std::string reason = system_error == 0 ? "" : fmt::format(": {}", strerror(system_error));
    if (code == SQLITE_FULL || (code == SQLITE_IOERR && out_of_space(system_error))) {
        throw Error(store + ": no space left", kFull);
    }
    switch (code) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            throw Error(fmt::format("{}: another assay holds it (waited {} s)", store,
                                    static_cast<double>(patience_.count()) / 1000),
                        "wait for it to end, or choose another place with --store");
        case SQLITE_CORRUPT:
            throw Error(store + ": the file is damaged",
                        fmt::format("move it away; `sqlite3 '{}' .recover` saves what is readable",
                                    path_.string()));
        case SQLITE_NOTADB:
            throw Error(store + ": this is no SQLite database, or its beginning is damaged",
                        "move it away, or choose another place with --store");
        case SQLITE_READONLY:
        case SQLITE_PERM:
            throw Error(store + ": it can't be written", kPermission);
        case SQLITE_CANTOPEN:
            throw Error(store + ": it can't be opened" + reason, kPermission);
        case SQLITE_IOERR:
            throw Error(store + ": reading or writing failed" + reason,
                        "check the disk and its free space");
        default:
            throw Error(fmt::format("{}: {}", store, sqlite3_errmsg(handle_.get())),
                        "choose another place with --store, or none to keep nothing");
    }
}

void Statement::Finalize::operator()(sqlite3_stmt* handle) const {
    sqlite3_finalize(handle);
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
    sqlite3_stmt* handle = nullptr;
    const int code = sqlite3_prepare_v2(database.handle_.get(), sql.data(),
                                        static_cast<int>(sql.size()), &handle, nullptr);
    handle_.reset(handle);
    if (code != SQLITE_OK) database_.fail();
}

void Statement::bind_one(int index, std::string_view text) {
    // An empty view may point nowhere, which SQLite would take for NULL.
    const char* data = text.empty() ? "" : text.data();
    if (sqlite3_bind_text64(handle_.get(), index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8) !=
        SQLITE_OK) {
        database_.fail();
    }
}

void Statement::bind_one(int index, std::int64_t number) {
    if (sqlite3_bind_int64(handle_.get(), index, number) != SQLITE_OK) database_.fail();
}

bool Statement::step() {
    const int code = sqlite3_step(handle_.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) database_.fail();
    return code == SQLITE_ROW;
}

void Statement::run() {
    while (step()) {
    }
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(handle_.get(), column);
}

std::string Statement::text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
    const int size = sqlite3_column_bytes(handle_.get(), column);
    return bytes == nullptr ? "" : std::string(bytes, static_cast<std::size_t>(size));
}

Transaction::Transaction(Database& database) : database_(database) {
    database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
    if (!open_) return;
    try {
        database_.execute("ROLLBACK");
    } catch (const Error&) {
        // SQLite rolls back by itself after a full disk or an I/O error.
    }
}

void Transaction::commit() {
    database_.execute("COMMIT");
    open_ = false;
}

}  // namespace assay::store
