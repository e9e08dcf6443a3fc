#include "work/memory_op.h"

#include <gtest/gtest.h>

#include "base/expect_error.h"

namespace assay::work {
namespace {

TEST(MemoryOp, ReadsBackItsName) {
    const auto ops = all_memory_ops();
    EXPECT_EQ(ops.size(), 6U);
    for (const MemoryOp op : ops) EXPECT_EQ(parse_memory_op(name(op)), op) << name(op);
}

TEST(MemoryOp, CountsEachArrayReadOrWrittenOnce) {
    EXPECT_EQ(counted_bytes(MemoryOp::copy, 100), 200U);
    EXPECT_EQ(counted_bytes(MemoryOp::read, 100), 100U);
    EXPECT_EQ(counted_bytes(MemoryOp::write, 100), 100U);
    EXPECT_EQ(counted_bytes(MemoryOp::scale, 100), 200U);
    EXPECT_EQ(counted_bytes(MemoryOp::add, 100), 300U);
    EXPECT_EQ(counted_bytes(MemoryOp::triad, std::uint64_t{1} << 40), std::uint64_t{3} << 40);
}

TEST(MemoryOp, RejectsOthers) {
    expect_error<UsageError>([] { parse_memory_op("tirad"); },
                             R"(unknown memory operation "tirad")", "triad");
}

}  // namespace
}  // namespace assay::work
