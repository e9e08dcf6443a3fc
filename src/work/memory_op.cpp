#include "work/memory_op.h"

#include <array>

#include "work/named_rows.h"

namespace assay::work {
namespace {

struct OpRow {
    MemoryOp op;
    std::string_view name;
    int read, written;  // arrays
};

constexpr std::array<OpRow, 6> kOps{{
    {MemoryOp::copy, "copy", 1, 1},
    {MemoryOp::read, "read", 1, 0},
    {MemoryOp::write, "write", 0, 1},
    {MemoryOp::scale, "scale", 1, 1},
    {MemoryOp::add, "add", 2, 1},
    {MemoryOp::triad, "triad", 2, 1},
}};

// The rows stand in the order of the enumeration.
const OpRow& row(MemoryOp op) {
    return kOps[static_cast<std::size_t>(op)];
}

}  // namespace

std::string_view name(MemoryOp op) {
    return row(op).name;
}

MemoryOp parse_memory_op(std::string_view word) {
    return row_named("memory operation", word, kOps).op;
}

std::vector<MemoryOp> all_memory_ops() {
    std::vector<MemoryOp> ops;
    for (const auto& each : kOps) ops.push_back(each.op);
    return ops;
}

int arrays_read(MemoryOp op) {
    return row(op).read;
}

int arrays_written(MemoryOp op) {
    return row(op).written;
}

std::uint64_t counted_bytes(MemoryOp op, std::uint64_t bytes_per_array) {
    return static_cast<std::uint64_t>(arrays_read(op) + arrays_written(op)) * bytes_per_array;
}

}  // namespace assay::work
