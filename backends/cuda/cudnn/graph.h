// A graph of tensor operations as a plain value, and nothing of cuDNN's: what a pass of attention
// asks of the library can be looked at without it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cuda {

using Extents = std::array<std::int64_t, 4>;  // batch, head, row, element

// Names a tensor inside its graph, and its address when the graph runs. 0: none.
using TensorId = std::int64_t;

enum class GraphElement { fp32, fp16, bf16, int32, int64, boolean };

enum class GraphPlace {
    operand,   // the caller's memory
    table,     // device memory with lengths or offsets
    scratch,   // device memory of the graph's own, undefined before and after
    constant,  // one number, passed from the host with each run
    inner,     // never in memory
};

struct GraphTensor {
    TensorId id = 0;  // add() numbers those without
    std::string name = {};
    GraphElement element = GraphElement::fp32;
    GraphPlace place = GraphPlace::inner;
    Extents dims{1, 1, 1, 1}, strides{1, 1, 1, 1};
    TensorId offsets = 0;     // a table of each entry's first element; 0: the strides say
    std::uint64_t bytes = 0;  // scratch only
    double value = 0;         // constants only
};

enum class GraphStep {
    matmul,  // over the last two dimensions
    multiply,
    add,
    subtract,
    divide,
    exp,
    log,
    identity,
    row_index,     // of each element of the input
    column_index,  // likewise
    less,
    greater,
    greater_equal,
    logical_and,
    select,   // the first input where the third holds, else the second
    maximum,  // over the last dimension
    sum,      // over each dimension in which the output is smaller
    reshape,
};
std::string_view name(GraphStep step);

struct GraphNode {
    GraphStep step{};
    std::vector<TensorId> inputs = {};
    TensorId output = 0;
    GraphElement compute = GraphElement::fp32;
    // Of a matmul: tables of how many rows, columns and inner elements each entry has; 0: all.
    TensorId rows = 0, columns = 0, inner = 0;

    bool operator==(const GraphNode&) const = default;
};

struct CudnnGraph {
    std::vector<GraphTensor> tensors;  // those that others name come first
    std::vector<GraphNode> nodes;      // in order

    TensorId add(GraphTensor tensor);  // returns its id
    TensorId inner_like(TensorId tensor, GraphElement element);
    TensorId constant(double value, GraphElement element = GraphElement::fp32);
    // Appends a node; returns the output's id.
    TensorId node(GraphStep step, std::vector<TensorId> inputs, TensorId output,
                  GraphElement compute = GraphElement::fp32);

    const GraphTensor& tensor(TensorId id) const;
    // All that a plan depends on: not the values of constants, which are given with each run.
    std::string text() const;
};

// Whether one plan does for both: they have the same text(), which costs far more to write.
bool is_planned_alike(const CudnnGraph& a, const CudnnGraph& b);

}  // namespace assay::cuda
