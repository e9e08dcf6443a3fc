// A small wrapper of SQLite: errors are Error, named by the file, with what to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace assay::store {

// One connection, for one thread.
class Database {
  public:
    // Opens, or creates an empty database; a file without write permission opens read-only. Waits
    // up to `patience` for others' locks, at each statement.
    Database(const std::filesystem::path& path, std::chrono::milliseconds patience);

    const std::filesystem::path& path() const { return path_; }
    bool read_only() const;

    void execute(const std::string& statements);
    // The first column of the first row.
    std::int64_t integer(const std::string& query);
    std::string text(const std::string& query);
    // Rows changed by the last statement.
    int changes() const;

    // Whether closing the last connection may move the log into the file: it writes.
    void merge_log_on_close(bool allowed);

    // Readers and a writer don't block each other then. Stays as it is on a file system without
    // shared memory.
    void use_write_ahead_log();

    // Throws what SQLite's last failure on this connection means.
    [[noreturn]] void fail() const;

  private:
    friend class Statement;
    struct Close {
        void operator()(sqlite3* handle) const;
    };

    std::filesystem::path path_;
    std::chrono::milliseconds patience_;
    std::unique_ptr<sqlite3, Close> handle_;
};

class Statement {
  public:
    Statement(Database& database, std::string_view sql);

    // The values of ?1, ?2, ... in order. Texts and blobs must outlive the statement's steps.
    template <typename... Values>
    Statement& bind(const Values&... values) {
        int index = 0;
        (bind_one(++index, values), ...);
        return *this;
    }
    bool step();  // true: a row is there to be read
    void run();   // to the end

    std::int64_t integer(int column) const;
    std::string text(int column) const;  // of a blob its bytes, of NULL ""

  private:
    void bind_one(int index, std::string_view text);
    void bind_one(int index, std::int64_t number);

    struct Finalize {
        void operator()(sqlite3_stmt* handle) const;
    };

    Database& database_;
    std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// Takes the write lock at once, so that it waits for its turn and never fails half-way for one;
// rolls back unless committed.
class Transaction {
  public:
    explicit Transaction(Database& database);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    void commit();

  private:
    Database& database_;
    bool open_ = true;
};

}  // namespace assay::store
