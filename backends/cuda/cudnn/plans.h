// Every plan that this process made or read, each once.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/cudnn/plan.h"
#include "cuda/cudnn/plan_cache.h"

namespace assay::cuda {

enum class PlanSource { built, disk, memory };

struct FoundPlan {
    std::shared_ptr<const CudnnPlan> plan;
    PlanSource source = PlanSource::built;
    double seconds = 0;  // that it took
    std::string note;    // why it wasn't kept on disk; "" when it was
};

class CudnnPlans {
  public:
    explicit CudnnPlans(CudnnPlanCache cache) : cache_(std::move(cache)) {}

    // This process's own, kept in the user's cache folder.
    static CudnnPlans& instance();

    // `device` is the device's name. Throws Unsupported where the library has no plan.
    FoundPlan find(const CudnnGraph& graph, const CudnnTarget& target, const std::string& device);

  private:
    // A plan is made with the handle of one device, and isn't another's, though they be equal.
    struct Owner {
        int device = -1;  // none: planned by a target's properties
        int capability = 0;
        std::string name;
        bool operator==(const Owner&) const = default;
    };
    struct Known {
        Owner owner;
        CudnnGraph graph;
        std::shared_ptr<const CudnnPlan> plan;
    };

    // From disk, else anew.
    FoundPlan make(const CudnnGraph& graph, const CudnnTarget& target,
                   const std::string& device) const;

    CudnnPlanCache cache_;
    std::mutex mutex_;
    std::vector<Known> known_;
};

// "planned in 870 ms", "plan read in 2 ms", "plan of before".
std::string describe(const FoundPlan& found);

}  // namespace assay::cuda
