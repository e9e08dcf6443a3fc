#include "cpu/cpu_buffer.h"

#include <cstring>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cpu/share.h"
#include "device_under_test.h"

namespace assay::cpu {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::size_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::size_t size = 0;
    std::size_t resident = 0;
    statm >> size >> resident;
    return resident * 4096;
}

TEST(CpuBuffer, IsAlignedPresentAndWritable) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4097}, 3 * kMiB + 5}) {
        const auto buffer = device_under_test().allocate(bytes);
        EXPECT_EQ(buffer->size(), bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 4096, 0U);
        std::memset(buffer->data(), 7, bytes);
    }
}

TEST(CpuBuffer, TakesItsMemoryAtOnceAndGivesItBack) {
    auto& device = device_under_test();
    // The first one starts what stays, threads and a sanitizer's books among it.
    device.allocate(64 * kMiB).reset();
    const std::size_t before = resident_bytes();
    auto buffer = device.allocate(64 * kMiB);
    EXPECT_GE(resident_bytes(), before + 60 * kMiB);
    buffer.reset();
    EXPECT_LE(resident_bytes(), before + 4 * kMiB);
}

TEST(CpuBuffer, MoreThanIsFreeIsRefusedBeforeMapping) {
    auto& device = device_under_test();
    const auto state = device.memory();
    EXPECT_LT(state.free, state.total);
    try {
        (void)device.allocate(state.total + kMiB);
        FAIL() << "no error";
    } catch (const Unsupported& error) {
        EXPECT_THAT(error.what(), testing::ContainsRegex("needed, .* free"));
    }
}

TEST(CpuBuffer, OnANodeThatExistsOrNot) {
    auto& device = device_under_test();
    const auto buffer = device.allocate(kMiB, device.facts().nodes.at(0).index);
    std::memset(buffer->data(), 1, kMiB);
    EXPECT_THROW((void)device.allocate(kMiB, 99), Unsupported);
}

TEST(CpuBuffer, CopiesInAndOut) {
    auto& device = device_under_test();
    const auto buffer = device.allocate(16);
    const char text[16] = "fifteen letters";
    char back[16] = {};
    device.copy_in(buffer->data(), text, 16);
    device.copy_out(back, buffer->data(), 16);
    EXPECT_STREQ(back, text);
}

TEST(Share, PartsCoverTheWholeInOrderOnPageBounds) {
    for (const std::size_t bytes : {0UL, 1UL, 4096UL, 4100UL, 1000000UL, 5UL * 4096}) {
        for (const int count : {1, 2, 3, 7}) {
            std::size_t end = 0;
            for (int index = 0; index < count; ++index) {
                const Share share = share_of(bytes, index, count);
                EXPECT_EQ(share.first, end);
                EXPECT_TRUE(share.bytes == 0 || share.first % 4096 == 0);
                end += share.bytes;
            }
            EXPECT_EQ(end, bytes);
        }
    }
}

}  // namespace
}  // namespace assay::cpu
