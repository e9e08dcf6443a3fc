#include "cuda/cudnn/plans.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/time.h"
#include "cuda/check.h"

namespace assay::cuda {

namespace {

CudnnPlanKey key_of(const CudnnGraph& graph, const CudnnTarget& target, const std::string& device) {
    const auto& library = Cudnn::instance();
    return {fmt::format("{} {}", device, target.capability),
            fmt::format("cuDNN {} of CUDA {}", library.version(), library.get_cudart_version()),
            graph.text()};
}

// Nothing where the library refuses it: it knows why, and a new one is as good.
std::shared_ptr<const CudnnPlan> loaded(const KeptPlan& kept, const CudnnTarget& target) {
    try {
        return std::make_shared<CudnnPlan>(kept.json, kept.engine, target);
    } catch (const DeviceLost&) {
        throw;
    } catch (const Error&) {
        return nullptr;
    }
}

}  // namespace

CudnnPlans& CudnnPlans::instance() {
    // Never destroyed: the driver that its plans are in may be gone by then.
    static auto& plans = *new CudnnPlans(CudnnPlanCache(CudnnPlanCache::default_folder()));
    return plans;
}

FoundPlan CudnnPlans::find(const CudnnGraph& graph, const CudnnTarget& target,
                           const std::string& device) {
    const auto begin = monotonic_seconds();
    Owner owner{.capability = target.capability, .name = device};
    if (target.handle != nullptr) owner.device = device_in_use();
    FoundPlan found;
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find_if(known_, [&](const Known& one) {
        return one.owner == owner && is_planned_alike(one.graph, graph);
    });
    if (known != known_.end()) {
        found.plan = known->plan;
        found.source = PlanSource::memory;
    } else {
        found = make(graph, target, device);
        known_.push_back({owner, graph, found.plan});
    }
    found.seconds = monotonic_seconds() - begin;
    return found;
}

FoundPlan CudnnPlans::make(const CudnnGraph& graph, const CudnnTarget& target,
                           const std::string& device) const {
    const auto key = key_of(graph, target, device);
    if (const auto kept = cache_.find(key)) {
        if (auto plan = loaded(*kept, target)) return {std::move(plan), PlanSource::disk, 0, ""};
        cache_.drop(key);
    }
    FoundPlan found{std::make_shared<CudnnPlan>(graph, target), PlanSource::built, 0, ""};
    if (!found.plan->json().empty()) {
        found.note = cache_.keep(key, {found.plan->engine(), found.plan->json()});
    }
    return found;
}

std::string describe(const FoundPlan& found) {
    std::string text = "plan of before";
    if (found.source != PlanSource::memory) {
        text = fmt::format("{} in {:.0f} ms",
                           found.source == PlanSource::built ? "planned" : "plan read",
                           found.seconds * 1e3);
    }
    if (!found.note.empty()) text += "; not kept: " + found.note;
    return text;
}

}  // namespace assay::cuda
