#include "cuda/cudnn/operations.h"

#include <algorithm>

#include <fmt/format.h>

namespace assay::cuda {

namespace {

constexpr std::int64_t kAlignment = 16;  // bytes
constexpr std::int64_t kRowAxis = 2, kColumnAxis = 3;

cudnnDataType_t data_type(GraphElement element) {
    switch (element) {
        case GraphElement::fp32:
            return CUDNN_DATA_FLOAT;
        case GraphElement::fp16:
            return CUDNN_DATA_HALF;
        case GraphElement::bf16:
            return CUDNN_DATA_BFLOAT16;
        case GraphElement::int32:
            return CUDNN_DATA_INT32;
        case GraphElement::int64:
            return CUDNN_DATA_INT64;
        case GraphElement::boolean:
            break;
    }
    return CUDNN_DATA_BOOLEAN;
}

cudnnPointwiseMode_t mode(GraphStep step) {
    switch (step) {
        case GraphStep::multiply:
            return CUDNN_POINTWISE_MUL;
        case GraphStep::add:
            return CUDNN_POINTWISE_ADD;
        case GraphStep::subtract:
            return CUDNN_POINTWISE_SUB;
        case GraphStep::divide:
            return CUDNN_POINTWISE_DIV;
        case GraphStep::exp:
            return CUDNN_POINTWISE_EXP;
        case GraphStep::log:
            return CUDNN_POINTWISE_LOG;
        case GraphStep::row_index:
        case GraphStep::column_index:
            return CUDNN_POINTWISE_GEN_INDEX;
        case GraphStep::less:
            return CUDNN_POINTWISE_CMP_LT;
        case GraphStep::greater:
            return CUDNN_POINTWISE_CMP_GT;
        case GraphStep::greater_equal:
            return CUDNN_POINTWISE_CMP_GE;
        case GraphStep::logical_and:
            return CUDNN_POINTWISE_LOGICAL_AND;
        case GraphStep::select:
            return CUDNN_POINTWISE_BINARY_SELECT;
        default:
            return CUDNN_POINTWISE_IDENTITY;
    }
}

}  // namespace

bool has_address(const GraphTensor& tensor) {
    return tensor.place != GraphPlace::inner;
}

CudnnOperations::CudnnOperations(const CudnnGraph& graph, cudnnHandle_t handle)
    : graph_(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "the operation graph") {
    // References to elements are handed out while the rest is added.
    details_.reserve(graph.nodes.size());
    for (const auto& tensor : graph.tensors) add_tensor(tensor);
    for (const auto& node : graph.nodes) add_node(node);
    graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, std::span<const CudnnDescriptor>(operations_));
    if (handle != nullptr) graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
    graph_.finalize();
}

const CudnnDescriptor& CudnnOperations::tensor(TensorId id) const {
    return tensors_[static_cast<std::size_t>(std::ranges::find(ids_, id) - ids_.begin())];
}

void CudnnOperations::add_tensor(const GraphTensor& t) {
    CudnnDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR,
                         fmt::format("tensor {} {}", t.id, t.name));
    made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, data_type(t.element));
    made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const std::int64_t>(t.dims));
    made.set(CUDNN_ATTR_TENSOR_STRIDES, std::span<const std::int64_t>(t.strides));
    made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, t.id);
    made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
    if (t.place == GraphPlace::inner) made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
    if (t.place == GraphPlace::constant) made.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
    if (t.offsets != 0) made.set(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC, tensor(t.offsets));
    made.finalize();
    ids_.push_back(t.id);
    tensors_.push_back(std::move(made));
}

void CudnnOperations::add_node(const GraphNode& node) {
    const auto what = fmt::format("operation {} {}", operations_.size(), name(node.step));
    const auto make = [&](cudnnBackendDescriptorType_t type) {
        return CudnnDescriptor(type, what);
    };
    const auto input = [&](std::size_t index) -> const CudnnDescriptor& {
        return tensor(node.inputs[index]);
    };
    const auto& output = tensor(node.output);
    if (node.step == GraphStep::matmul) {
        auto made = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
        made.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, input(0));
        made.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, input(1));
        made.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, output);
        made.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, matmul_details(node));
        const auto lengths = [&](cudnnBackendAttributeName_t attribute, TensorId id) {
            if (id != 0) made.set(attribute, tensor(id));
        };
        lengths(CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC, node.rows);
        lengths(CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC, node.columns);
        lengths(CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC, node.inner);
        operations_.push_back(std::move(made));
    } else if (node.step == GraphStep::maximum || node.step == GraphStep::sum) {
        auto made = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
        made.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction_details(node));
        made.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, input(0));
        made.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, output);
        operations_.push_back(std::move(made));
    } else if (node.step == GraphStep::reshape) {
        auto made = make(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
        made.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, input(0));
        made.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, output);
        operations_.push_back(std::move(made));
    } else {
        auto made = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
        made.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise_details(node));
        made.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, input(0));
        made.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, output);
        if (node.inputs.size() > 1) made.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, input(1));
        if (node.inputs.size() > 2) made.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, input(2));
        operations_.push_back(std::move(made));
    }
    operations_.back().finalize();
}

const CudnnDescriptor& CudnnOperations::matmul_details(const GraphNode& node) {
    auto& made = details_.emplace_back(CUDNN_BACKEND_MATMUL_DESCRIPTOR, "a matmul");
    made.set(CUDNN_ATTR_MATMUL_COMP_TYPE, data_type(node.compute));
    made.finalize();
    return made;
}

const CudnnDescriptor& CudnnOperations::pointwise_details(const GraphNode& node) {
    auto& made = details_.emplace_back(CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
                                       fmt::format("pointwise {}", name(node.step)));
    made.set(CUDNN_ATTR_POINTWISE_MODE, mode(node.step));
    made.set(CUDNN_ATTR_POINTWISE_MATH_PREC, data_type(node.compute));
    if (node.step == GraphStep::row_index) made.set(CUDNN_ATTR_POINTWISE_AXIS, kRowAxis);
    if (node.step == GraphStep::column_index) made.set(CUDNN_ATTR_POINTWISE_AXIS, kColumnAxis);
    made.finalize();
    return made;
}

const CudnnDescriptor& CudnnOperations::reduction_details(const GraphNode& node) {
    auto& made = details_.emplace_back(CUDNN_BACKEND_REDUCTION_DESCRIPTOR, "a reduction");
    made.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, data_type(node.compute));
    made.set(CUDNN_ATTR_REDUCTION_OPERATOR,
             node.step == GraphStep::maximum ? CUDNN_REDUCE_TENSOR_MAX : CUDNN_REDUCE_TENSOR_ADD);
    made.finalize();
    return made;
}

}  // namespace assay::cuda
