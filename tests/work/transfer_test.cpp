#include "work/transfer.h"

#include <gtest/gtest.h>

#include "base/expect_error.h"

namespace assay::work {
namespace {

TEST(Transfer, IsFoundByItsName) {
    const auto transfers = all_transfers();
    EXPECT_EQ(transfers.size(), 4U);
    for (const Transfer transfer : transfers) {
        EXPECT_EQ(find_transfer(name(transfer)), transfer) << name(transfer);
    }
    EXPECT_EQ(find_transfer("device_to_host"), Transfer::device_to_host);
    EXPECT_FALSE(find_transfer("copy"));
    EXPECT_FALSE(find_transfer(""));
}

TEST(Transfer, CountsBothWaysAndBothReadAndWritten) {
    EXPECT_EQ(moved(Transfer::host_to_device), 1);
    EXPECT_EQ(moved(Transfer::device_to_host), 1);
    EXPECT_EQ(moved(Transfer::both_ways), 2);
    EXPECT_EQ(moved(Transfer::device_to_device), 2);
}

TEST(Transfer, LeavesTheHostAloneInsideTheDevice) {
    for (const Transfer transfer : all_transfers()) {
        EXPECT_EQ(uses_host(transfer), transfer != Transfer::device_to_device) << name(transfer);
    }
}

TEST(HostMemory, ReadsBackItsName) {
    for (const auto memory : {HostMemory::pinned, HostMemory::pageable}) {
        EXPECT_EQ(parse_host_memory(name(memory)), memory) << name(memory);
    }
    expect_error<UsageError>([] { parse_host_memory("paged"); }, R"(unknown host memory "paged")",
                             "pageable");
}

}  // namespace
}  // namespace assay::work
