#include "cuda/cudnn/plan.h"

#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "cuda/cudnn/operations.h"

namespace assay::cuda {

namespace {

std::vector<CudnnDescriptor> configurations(const CudnnOperations& operations,
                                            const CudnnTarget& target,
                                            cudnnBackendHeurMode_t mode) {
    CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "the heuristics");
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operations.graph());
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
    if (target.properties != nullptr) {
        heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.properties);
    }
    heuristics.finalize();
    return heuristics.list(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                           "an engine's configuration");
}

std::string engine_of(const CudnnDescriptor& configuration) {
    CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR, "an engine");
    configuration.get(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    return fmt::format("engine {}", engine.number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
}

// "" where a plan can't be written down: such an engine's code isn't compiled by it.
std::string json_of(const CudnnDescriptor& plan) {
    try {
        return plan.text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
    } catch (const Error&) {
        return "";
    }
}

CudnnDescriptor new_plan() {
    return {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "the execution plan"};
}

CudnnDescriptor loaded(const std::string& json, const CudnnTarget& target) {
    auto plan = new_plan();
    if (target.handle != nullptr) plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, target.handle);
    if (target.properties != nullptr) {
        plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.properties);
    }
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, json);
    plan.finalize();
    return plan;
}

// Keeps the first reason: later engines are further from what the graph asks for.
template <class Attempt>
void unless_refused(std::string& why, Attempt attempt) {
    try {
        attempt();
    } catch (const DeviceLost&) {
        throw;
    } catch (const Error& refused) {
        if (why.empty()) why = refused.what();
    }
}

}  // namespace

struct CudnnPlan::Choice {
    std::shared_ptr<const CudnnOperations> operations = nullptr;
    std::optional<CudnnDescriptor> configuration = {};
    CudnnDescriptor plan;
    std::string json, engine;
};

CudnnPlan::Choice CudnnPlan::choose(const CudnnGraph& graph, const CudnnTarget& target) {
    std::string why;
    std::shared_ptr<const CudnnOperations> operations;
    unless_refused(
        why, [&] { operations = std::make_shared<const CudnnOperations>(graph, target.handle); });
    std::optional<Choice> own, other;
    const auto consider = [&](CudnnDescriptor& configuration) {
        auto plan = new_plan();
        plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
        plan.finalize();
        auto json = json_of(plan);
        auto& place = is_kernel_for(kernel_of(json), target.capability) ? own : other;
        if (place) return;
        auto engine = engine_of(configuration);
        place = Choice{operations, std::move(configuration), std::move(plan), std::move(json),
                       std::move(engine)};
    };
    for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
        if (operations == nullptr) break;
        unless_refused(why, [&] {
            for (auto& configuration : configurations(*operations, target, mode)) {
                unless_refused(why, [&] { consider(configuration); });
                if (own) break;
            }
        });
        if (own) return std::move(*own);
    }
    // Only now: a later mode may know a kernel of the device's own.
    if (other) return std::move(*other);
    if (why.empty()) why = "its heuristics name no engine";
    throw Unsupported(fmt::format("cuDNN {} has no plan: {}", Cudnn::instance().version(), why),
                      "choose another type, layout, mask or shape, or another provider");
}

CudnnPlan::CudnnPlan(Choice choice, int capability)
    : operations_(std::move(choice.operations)),
      configuration_(std::move(choice.configuration)),
      plan_(std::move(choice.plan)),
      json_(std::move(choice.json)),
      engine_(std::move(choice.engine)),
      kernel_(kernel_of(json_)),
      own_code_(is_kernel_for(kernel_, capability)),
      workspace_bytes_(
          static_cast<std::uint64_t>(plan_.number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE))) {}

CudnnPlan::CudnnPlan(const CudnnGraph& graph, const CudnnTarget& target)
    : CudnnPlan(choose(graph, target), target.capability) {}

CudnnPlan::CudnnPlan(const std::string& json, const std::string& engine, const CudnnTarget& target)
    : CudnnPlan(Choice{.plan = loaded(json, target), .json = json, .engine = engine},
                target.capability) {}

std::string kernel_of(const std::string& plan_json) {
    constexpr std::string_view kKey = "\"kernelName\":\"";
    const auto key = plan_json.find(kKey);
    if (key == std::string::npos) return "";
    const auto begin = key + kKey.size();
    return plan_json.substr(begin, plan_json.find('"', begin) - begin);
}

bool is_kernel_for(const std::string& kernel, int capability) {
    constexpr std::string_view kMark = "_sm";
    const auto mark = kernel.find(kMark);
    if (mark == std::string::npos) return false;
    int written_for = 0;
    const auto* begin = kernel.data() + mark + kMark.size();
    std::from_chars(begin, kernel.data() + kernel.size(), written_for);
    return written_for / 10 == capability / 10;
}

}  // namespace assay::cuda
