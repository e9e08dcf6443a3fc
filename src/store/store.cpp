#include "store/store.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "store/sqlite_store.h"

namespace assay::store {

namespace {

class NoStore : public Store {
  public:
    void begin(const record::Run&) override {}
    void add(const std::string&, const record::Result&) override {}
    void end(const record::Run&) override {}
    std::vector<RunHead> runs() override { return {}; }
    record::Run load(const std::string& id) override {
        throw UsageError(fmt::format("no run \"{}\": nothing is stored with --store none", id),
                         "name the store that holds it");
    }
    std::vector<record::Result> history(const std::string&) override { return {}; }
    std::string describe() const override { return "none"; }
};

// "postgresql://host/db" -> "postgresql"; a path has none.
std::string_view scheme_of(std::string_view url) {
    const std::string_view scheme = url.substr(0, std::min(url.find(':'), url.size()));
    const bool is_scheme = scheme.size() < url.size() && !scheme.empty() &&
                           std::all_of(scheme.begin(), scheme.end(), [](char c) {
                               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
                           });
    return is_scheme ? scheme : "";
}

}  // namespace

Store::~Store() = default;

std::unique_ptr<Store> open_store(std::string_view url) {
    if (url == "none") return std::make_unique<NoStore>();
    if (url.empty()) return open_sqlite_store(user_data_dir() / "assay.db");
    const std::string_view scheme = scheme_of(url);
    if (scheme.empty()) return open_sqlite_store(url);
    const std::string_view path = url.substr(scheme.size() + 1);
    if (scheme == "sqlite" && !path.empty()) return open_sqlite_store(path);
    // The rest of the URL may hold a password.
    throw UsageError(fmt::format("no store \"{}:...\"", scheme),
                     "a store is a path, sqlite:PATH, or none");
}

}  // namespace assay::store
