// The memory kernels: what each one does to its arrays, and which bytes are counted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::work {

// a, b, c are arrays of fp32, s a scalar.
enum class MemoryOp {
    copy,   // c = a
    read,   // sum of a, kept
    write,  // c = s
    scale,  // c = s a
    add,    // c = a + b
    triad,  // c = a + s b
};

std::string_view name(MemoryOp op);
MemoryOp parse_memory_op(std::string_view word);  // throws UsageError
std::vector<MemoryOp> all_memory_ops();

int arrays_read(MemoryOp op);
int arrays_written(MemoryOp op);

// Bytes asked for by the kernel: each array read or written once. Lines that a cache reads before
// it is written to (write-allocate) are not counted, whatever the machine does.
std::uint64_t counted_bytes(MemoryOp op, std::uint64_t bytes_per_array);

inline constexpr float kScalar = 3.0F;

}  // namespace assay::work
