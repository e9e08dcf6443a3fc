#include "cuda/cudnn/graph.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay::cuda {

namespace {

// Above what the makers of graphs choose themselves.
constexpr TensorId kFirstOwn = 100;

}  // namespace

std::string_view name(GraphStep step) {
    constexpr std::array<std::string_view, 18> kNames{
        "matmul",        "multiply",    "add",       "subtract",     "divide", "exp",
        "log",           "identity",    "row_index", "column_index", "less",   "greater",
        "greater_equal", "logical_and", "select",    "maximum",      "sum",    "reshape"};
    return kNames[static_cast<std::size_t>(step)];
}

TensorId CudnnGraph::add(GraphTensor tensor) {
    if (tensor.id == 0) tensor.id = kFirstOwn + static_cast<TensorId>(tensors.size());
    tensors.push_back(std::move(tensor));
    return tensors.back().id;
}

TensorId CudnnGraph::inner_like(TensorId tensor_id, GraphElement element) {
    const auto& model = tensor(tensor_id);
    return add({.element = element, .dims = model.dims, .strides = model.strides});
}

TensorId CudnnGraph::constant(double value, GraphElement element) {
    return add({.element = element, .place = GraphPlace::constant, .value = value});
}

TensorId CudnnGraph::node(GraphStep step, std::vector<TensorId> inputs, TensorId output,
                          GraphElement compute) {
    nodes.push_back(
        {.step = step, .inputs = std::move(inputs), .output = output, .compute = compute});
    return output;
}

const GraphTensor& CudnnGraph::tensor(TensorId id) const {
    return *std::ranges::find(tensors, id, &GraphTensor::id);
}

std::string CudnnGraph::text() const {
    std::string text;
    for (const auto& t : tensors) {
        text += fmt::format("t{} e{} p{} {}/{} o{}\n", t.id, static_cast<int>(t.element),
                            static_cast<int>(t.place), fmt::join(t.dims, "x"),
                            fmt::join(t.strides, "x"), t.offsets);
    }
    for (const auto& n : nodes) {
        text += fmt::format("{} {} {} c{} {} {} {}\n", name(n.step), fmt::join(n.inputs, ","),
                            n.output, static_cast<int>(n.compute), n.rows, n.columns, n.inner);
    }
    return text;
}

bool is_planned_alike(const CudnnGraph& a, const CudnnGraph& b) {
    const auto key = [](const GraphTensor& t) {
        return std::tie(t.id, t.element, t.place, t.dims, t.strides, t.offsets);
    };
    return a.nodes == b.nodes &&
           std::ranges::equal(a.tensors, b.tensors, [&](const auto& one, const auto& other) {
               return key(one) == key(other);
           });
}

}  // namespace assay::cuda
