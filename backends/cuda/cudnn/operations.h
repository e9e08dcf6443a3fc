// A graph as cuDNN describes it.
#pragma once

#include <vector>

#include "cuda/cudnn/descriptor.h"
#include "cuda/cudnn/graph.h"

namespace assay::cuda {

// Its descriptors must live as long as it is planned from.
class CudnnOperations {
  public:
    // `handle` may be null, to plan for a device that isn't there.
    CudnnOperations(const CudnnGraph& graph, cudnnHandle_t handle);

    const CudnnDescriptor& graph() const { return graph_; }

  private:
    const CudnnDescriptor& tensor(TensorId id) const;
    void add_tensor(const GraphTensor& tensor);
    void add_node(const GraphNode& node);
    // The operation's details, a descriptor of its own in cuDNN.
    const CudnnDescriptor& matmul_details(const GraphNode& node);
    const CudnnDescriptor& pointwise_details(const GraphNode& node);
    const CudnnDescriptor& reduction_details(const GraphNode& node);

    std::vector<TensorId> ids_;
    std::vector<CudnnDescriptor> tensors_;  // by ids_
    std::vector<CudnnDescriptor> details_;
    std::vector<CudnnDescriptor> operations_;
    CudnnDescriptor graph_;
};

// Which tensors a run gives addresses of.
bool has_address(const GraphTensor& tensor);

}  // namespace assay::cuda
