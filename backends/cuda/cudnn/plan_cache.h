// Plans on disk, so that a process needn't wait a second for each. A file that is damaged, of
// another library or refused costs a plan, never an answer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace assay::cuda {

// What a plan depends on.
struct CudnnPlanKey {
    std::string device;   // its name and compute capability
    std::string library;  // version, and that of the CUDA runtime it was built with
    std::string graph;    // CudnnGraph::text()

    std::string hash() const;  // SHA-256 of all
    bool operator==(const CudnnPlanKey&) const = default;
};

struct KeptPlan {
    std::string engine;
    std::string json;
    bool operator==(const KeptPlan&) const = default;
};

// What the folder may hold: those used last stay.
struct KeptPlanLimits {
    std::size_t files = 256;
    std::uintmax_t bytes = std::uintmax_t{64} << 20;
};

class CudnnPlanCache {
  public:
    explicit CudnnPlanCache(std::filesystem::path folder, KeptPlanLimits limits = {})
        : folder_(std::move(folder)), limits_(limits) {}

    // In the user's cache folder; empty where the home folder is unknown, and nothing is kept then.
    static std::filesystem::path default_folder();

    // Nothing where there is no file, or it isn't what was kept.
    std::optional<KeptPlan> find(const CudnnPlanKey& key) const;
    // "" or why it wasn't kept: a full disk, a folder that can't be written. Removes what is then
    // beyond the limits; another process that was about to read it makes a plan of its own.
    std::string keep(const CudnnPlanKey& key, const KeptPlan& plan) const;
    // Of a plan that the library refused.
    void drop(const CudnnPlanKey& key) const;

    std::filesystem::path file(const CudnnPlanKey& key) const;

  private:
    void prune(const std::filesystem::path& kept) const;

    std::filesystem::path folder_;
    KeptPlanLimits limits_;
};

}  // namespace assay::cuda
