// Where results live. Each result is kept as it is made: what was stored before a crash, a full
// disk or an interruption stays.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "record/run.h"

namespace assay::store {

struct RunHead {
    std::string id, started, ended, state, suite, command, host;
    std::size_t results = 0;
};

// For one thread; any number of processes may share what is behind it.
class Store {
  public:
    virtual ~Store();

    // A run is `failed` until it is ended: one that dies leaves the truth behind.
    virtual void begin(const record::Run& head) = 0;
    // One transaction; durable when it returns.
    virtual void add(const std::string& run_id, const record::Result& result) = 0;
    // State, end time, findings and provenance.
    virtual void end(const record::Run& run) = 0;

    virtual std::vector<RunHead> runs() = 0;  // newest first
    // Throws UsageError when there is no such run; `id` may be a unique prefix, or "latest".
    virtual record::Run load(const std::string& id) = 0;
    // All ok results of an identity (record::Result::identity), oldest first.
    virtual std::vector<record::Result> history(const std::string& identity) = 0;
    virtual std::string describe() const = 0;  // the path or URL, for messages
};

// `url` is "" (the default place), "none" (a store that keeps nothing), a path, or "sqlite:PATH".
// Throws UsageError for an unknown scheme; Error when the file can't be opened, is damaged, is no
// store, or was written by a newer version: it is never changed then.
std::unique_ptr<Store> open_store(std::string_view url);

}  // namespace assay::store
