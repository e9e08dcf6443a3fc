// How cuDNN runs a graph: the kernel it chose, compiled for the device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cuda/cudnn/descriptor.h"
#include "cuda/cudnn/graph.h"

namespace assay::cuda {

class CudnnOperations;

// What plans are made for.
struct CudnnTarget {
    cudnnHandle_t handle = nullptr;
    // Instead of a handle, to plan for a device that isn't there: its properties, as cuDNN writes
    // them down.
    const CudnnDescriptor* properties = nullptr;
    int capability = 0;  // 10 x major + minor
};

class CudnnPlan {
  public:
    // The first plan of the library's heuristics whose kernel is for the target's own architecture,
    // else the first it has. Throws Unsupported with cuDNN's reason where it has none.
    CudnnPlan(const CudnnGraph& graph, const CudnnTarget& target);
    // From json(), in a few milliseconds: it holds the compiled kernel. Throws what cuDNN has
    // against it.
    CudnnPlan(const std::string& json, const std::string& engine, const CudnnTarget& target);

    const CudnnDescriptor& descriptor() const { return plan_; }
    const std::string& json() const { return json_; }
    const std::string& engine() const { return engine_; }  // "engine 2"
    const std::string& kernel() const { return kernel_; }  // "" where the plan doesn't say
    bool is_own_code() const { return own_code_; }         // of the target's architecture
    std::uint64_t workspace_bytes() const { return workspace_bytes_; }

  private:
    struct Choice;
    explicit CudnnPlan(Choice choice, int capability);
    static Choice choose(const CudnnGraph& graph, const CudnnTarget& target);

    // What the plan was made of, which has to outlive it; a plan that was read has none.
    std::shared_ptr<const CudnnOperations> operations_;
    std::optional<CudnnDescriptor> configuration_;
    CudnnDescriptor plan_;
    std::string json_, engine_, kernel_;
    bool own_code_ = false;
    std::uint64_t workspace_bytes_ = 0;
};

// The name of the first kernel in a plan's JSON.
std::string kernel_of(const std::string& plan_json);
// Whether a kernel of that name was written for devices of this compute capability's major version:
// cuDNN's names have "_sm90_" in them.
bool is_kernel_for(const std::string& kernel, int capability);

}  // namespace assay::cuda
