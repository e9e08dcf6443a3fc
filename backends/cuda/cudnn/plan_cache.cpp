#include "cuda/cudnn/plan_cache.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"

namespace fs = std::filesystem;

namespace assay::cuda {

namespace {

constexpr auto kFormat = "assay-cudnn-plan/1";

// One line that says what follows: the library's own text, as it is.
std::string head_of(const CudnnPlanKey& key, const KeptPlan& plan) {
    return dump_line(Json{{"format", kFormat},
                          {"device", key.device},
                          {"library", key.library},
                          {"graph", sha256(key.graph)},
                          {"engine", plan.engine},
                          {"plan", sha256(plan.engine + "\n" + plan.json)}}) +
           "\n";
}

}  // namespace

std::string CudnnPlanKey::hash() const {
    // Each with its length: what ends one can't begin the next.
    return sha256(fmt::format("{} {}\n{} {}\n{} {}\n", device.size(), device, library.size(),
                              library, graph.size(), graph));
}

fs::path CudnnPlanCache::default_folder() {
    try {
        return user_cache_dir() / "cudnn-plans";
    } catch (const Error&) {
        return {};
    }
}

fs::path CudnnPlanCache::file(const CudnnPlanKey& key) const {
    return folder_ / (key.hash() + ".plan");
}

std::optional<KeptPlan> CudnnPlanCache::find(const CudnnPlanKey& key) const {
    if (folder_.empty()) return std::nullopt;
    try {
        const auto path = file(key);
        std::error_code ignored;
        if (!fs::exists(path, ignored)) return std::nullopt;
        const auto text = read_file(path);
        const auto end = text.find('\n');
        if (end == std::string::npos) return std::nullopt;
        const auto head = parse_json(text.substr(0, end), path.native());
        KeptPlan plan{head.at("engine").get<std::string>(), text.substr(end + 1)};
        // The library is given nothing that isn't what it once wrote itself.
        if (head_of(key, plan) != text.substr(0, end + 1)) return std::nullopt;
        // Its time is that of its last use; a file system's own is often not kept.
        fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
        return plan;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

std::string CudnnPlanCache::keep(const CudnnPlanKey& key, const KeptPlan& plan) const {
    if (folder_.empty()) return "the home folder is unknown";
    try {
        fs::create_directories(folder_);
        write_file(file(key), head_of(key, plan) + plan.json);
        prune(file(key));
        return "";
    } catch (const std::exception& failed) {
        return failed.what();
    }
}

// Never fails: what is gone already, or can't be removed, is another process's.
void CudnnPlanCache::prune(const fs::path& kept) const {
    struct File {
        fs::path path;
        fs::file_time_type used;
        std::uintmax_t bytes;
    };
    std::vector<File> files;
    std::error_code error;
    for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
        // With what a process that was killed left half written.
        std::error_code gone;
        if (!fs::is_regular_file(at->symlink_status(gone)) || gone) continue;
        File file{at->path(), at->last_write_time(gone), at->file_size(gone)};
        if (!gone) files.push_back(std::move(file));
    }
    std::ranges::sort(files, [&](const File& a, const File& b) {
        // The new one first, however coarse the times are.
        if ((a.path == kept) != (b.path == kept)) return a.path == kept;
        return a.used > b.used;
    });
    std::size_t count = 0;
    std::uintmax_t bytes = 0;
    for (const auto& file : files) {
        ++count;
        bytes += file.bytes;
        if (file.path == kept || (count <= limits_.files && bytes <= limits_.bytes)) continue;
        fs::remove(file.path, error);
    }
}

void CudnnPlanCache::drop(const CudnnPlanKey& key) const {
    std::error_code ignored;
    fs::remove(file(key), ignored);
}

}  // namespace assay::cuda
