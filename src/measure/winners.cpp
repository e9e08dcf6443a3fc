#include "measure/winners.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace fs = std::filesystem;

namespace assay::measure {
namespace {

constexpr auto kFormat = "assay-winners/1";

struct Row {
    WinnerKey key;
    std::string algorithm;
};

std::vector<Row> rows_of(const Json& document) {
    if (document.at("format") != kFormat) throw Error("it has another format");
    std::vector<Row> rows;
    for (const auto& row : document.at("winners")) {
        const auto text = [&](const char* name) { return row.at(name).get<std::string>(); };
        rows.push_back({{text("device"), text("library"), text("problem"), text("protocol")},
                        text("algorithm")});
    }
    return rows;
}

std::string text_of(const std::vector<Row>& rows) {
    Json winners = Json::array();
    for (const auto& [key, algorithm] : rows) {
        winners.push_back({{"device", key.device},
                           {"library", key.library},
                           {"problem", key.problem},
                           {"protocol", key.protocol},
                           {"algorithm", algorithm}});
    }
    return Json{{"format", kFormat}, {"winners", std::move(winners)}}.dump(
               1, ' ', false, Json::error_handler_t::replace) +
           "\n";
}

// None where the file is missing; `note` says why where it is damaged.
std::vector<Row> read(const fs::path& file, std::string& note) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return {};
    try {
        return rows_of(parse_json(read_file(file), file.native()));
    } catch (const std::exception& error) {
        note = fmt::format("{} was ignored: {}", file.native(), error.what());
        return {};
    }
}

// Held while the file is read, changed and written. The lock is on a file of its own, as writing
// replaces the file itself.
class Lock {
  public:
    explicit Lock(const fs::path& file) {
        const auto path = file.native() + ".lock";
        fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        int failed = fd_ < 0 ? -1 : 0;
        while (fd_ >= 0 && (failed = ::flock(fd_, LOCK_EX)) != 0 && errno == EINTR) {
        }
        if (failed == 0) return;
        const int reason = errno;
        if (fd_ >= 0) ::close(fd_);
        throw Error(fmt::format("can't lock {}: {}", path, std::generic_category().message(reason)),
                    "check the permissions of its folder, or set XDG_CACHE_HOME");
    }
    ~Lock() { ::close(fd_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    int fd_;
};

}  // namespace

fs::path Winners::default_file() {
    return user_cache_dir() / "winners.json";
}

std::optional<std::string> Winners::find(const WinnerKey& key) {
    const auto rows = read(file_, note_);
    const auto found = std::ranges::find(rows, key, &Row::key);
    if (found == rows.end()) return std::nullopt;
    return found->algorithm;
}

void Winners::keep(const WinnerKey& key, const std::string& algorithm) {
    std::error_code error;
    fs::create_directories(file_.parent_path(), error);
    if (error) {
        throw Error(fmt::format("can't make the folder {}: {}", file_.parent_path().native(),
                                error.message()),
                    "check its permissions, or set XDG_CACHE_HOME");
    }
    const Lock lock(file_);
    auto rows = read(file_, note_);
    const auto found = std::ranges::find(rows, key, &Row::key);
    if (found == rows.end()) {
        rows.push_back({key, algorithm});
    } else {
        found->algorithm = algorithm;
    }
    write_file(file_, text_of(rows));
}

}  // namespace assay::measure
