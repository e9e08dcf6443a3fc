#include "cpu/sysfs.h"

#include <gtest/gtest.h>

namespace assay::cpu {
namespace {

TEST(CpuSysfs, WhatOpensButCannotBeReadIsAbsent) {
    EXPECT_EQ(read_text("/proc/self/mem"), std::nullopt);  // no memory at address 0
    EXPECT_EQ(read_text("/proc"), std::nullopt);           // a folder
    EXPECT_EQ(read_text("/proc/nothing"), std::nullopt);
    EXPECT_EQ(read_number("/proc/self/mem"), std::nullopt);
    EXPECT_NE(read_text("/proc/self/stat"), std::nullopt);
}

}  // namespace
}  // namespace assay::cpu
